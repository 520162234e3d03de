package io.syncguard.postgres;

import io.syncguard.core.LockBackendContract;
import io.syncguard.spi.LockBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerLockBackendTests extends LockBackendContract {

    @RegisterExtension
    private static final PgBouncerContractStore pooled = new PgBouncerContractStore();

    @BeforeEach
    void emptyTables() {
        pooled.emptied();
    }

    @Override
    protected LockBackend newBackend() {
        return pooled.store().newBackend();
    }

    @Override
    protected void expire(String key) {
        pooled.store()
                .jdbc()
                .update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000 WHERE key = ?", key);
    }

    @Override
    protected long storedFence(String key) {
        return pooled.store().storedFence(key);
    }
}
