package io.syncguard.core;

import io.syncguard.spi.LockBackend;
import java.time.Duration;

/** An in-memory store whose clock stands still. */
final class InMemoryContractStore implements ContractStore {

    private final InMemoryLockBackend.Store store = new InMemoryLockBackend.Store(() -> 1_000_000);

    @Override
    public LockBackend newBackend() {
        return new InMemoryLockBackend(store);
    }

    @Override
    public void expireLease(String lockId) {
        store.expireLease(lockId);
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        store.endQueueEntryIn(lockId, left);
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        store.drawnUpTo(key, fence);
    }

    @Override
    public long storedFence(String key) {
        return store.fence(key);
    }
}
