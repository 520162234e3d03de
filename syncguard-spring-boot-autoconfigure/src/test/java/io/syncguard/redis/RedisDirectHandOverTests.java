package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.core.DirectHandOverContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisDirectHandOverTests extends DirectHandOverContract {

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
