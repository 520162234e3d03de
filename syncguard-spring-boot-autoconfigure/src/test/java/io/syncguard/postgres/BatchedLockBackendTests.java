package io.syncguard.postgres;

import io.syncguard.core.LockBackendContract;
import io.syncguard.spi.LockBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatchedLockBackendTests extends LockBackendContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS);

    @BeforeEach
    void emptyTables() {
        store.emptied();
    }

    @Override
    protected LockBackend newBackend() {
        return store.newBackend();
    }

    @Override
    protected void expire(String key) {
        store.jdbc()
                .update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000 WHERE key = ?", key);
    }

    @Override
    protected long storedFence(String key) {
        return store.storedFence(key);
    }
}
