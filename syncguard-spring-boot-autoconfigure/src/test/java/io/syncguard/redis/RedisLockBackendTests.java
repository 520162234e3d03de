package io.syncguard.redis;

import io.syncguard.core.LockBackendContract;
import io.syncguard.spi.LockBackend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

class RedisLockBackendTests extends LockBackendContract {

    private static RedisContractStore store;

    @BeforeAll
    static void connect() {
        store = new RedisContractStore();
    }

    @AfterAll
    static void closeConnections() {
        store.close();
    }

    @AfterEach
    void leaveKeys() {
        store.emptied();
    }

    @Override
    protected LockBackend newBackend() {
        return store.newBackend();
    }

    @Override
    protected void expire(String key) {
        store.expire(key);
    }

    @Override
    protected long storedFence(String key) {
        return store.storedFence(key);
    }
}
