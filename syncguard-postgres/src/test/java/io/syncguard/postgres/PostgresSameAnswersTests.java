package io.syncguard.postgres;

import io.syncguard.core.ServerAnswersContract;
import io.syncguard.core.StoppedStore;
import io.syncguard.spi.FenceSource;

class PostgresSameAnswersTests extends ServerAnswersContract {

    @Override
    protected StoppedStore newStore(FenceSource fences) {
        return new PostgresStoppedStore(fences);
    }

    @Override
    protected boolean remembersLapsedLeases() {
        return true;
    }
}
