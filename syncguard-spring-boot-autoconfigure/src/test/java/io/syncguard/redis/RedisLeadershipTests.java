package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisLeadershipTests extends LeadershipContract {

    private static RedisContractStore store;

    @BeforeAll
    static void connect() {
        store = new RedisContractStore();
    }

    @AfterAll
    static void closeConnections() {
        store.close();
    }

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
