package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.core.QueueEntryContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisQueueEntryTests extends QueueEntryContract {

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
