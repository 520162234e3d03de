package io.syncguard.core;

import io.syncguard.spi.FenceSource;

class InMemorySameAnswersTests extends SameAnswersContract {

    @Override
    protected StoppedStore newStore(FenceSource fences) {
        return new InMemoryStoppedStore(fences);
    }
}
