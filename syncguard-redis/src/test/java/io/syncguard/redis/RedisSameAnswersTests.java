package io.syncguard.redis;

import io.syncguard.core.ServerAnswersContract;
import io.syncguard.core.StoppedStore;
import io.syncguard.spi.FenceSource;

class RedisSameAnswersTests extends ServerAnswersContract {

    @Override
    protected StoppedStore newStore(FenceSource fences) {
        return new RedisStoppedStore(fences);
    }

    @Override
    protected boolean remembersLapsedLeases() {
        return false;
    }
}
