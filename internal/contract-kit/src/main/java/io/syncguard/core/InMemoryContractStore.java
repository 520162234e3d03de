package io.syncguard.core;

import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.function.LongSupplier;

/** An in-memory store whose clock stands still, unless a test passes another clock. */
public final class InMemoryContractStore implements ContractStore {

    private final LongSupplier clock;
    private final InMemoryStore store;

    InMemoryContractStore() {
        this(() -> 1_000_000);
    }

    /** @param clock in milliseconds */
    public InMemoryContractStore(LongSupplier clock) {
        this.clock = clock;
        this.store = new InMemoryStore(clock);
    }

    @Override
    public ContractStore emptied() {
        return new InMemoryContractStore(clock);
    }

    @Override
    public LockBackend newBackend() {
        return new InMemoryLockBackend(store);
    }

    @Override
    public void expireLease(String lockId) {
        store.expireLease(lockId);
    }

    @Override
    public void expire(String key) {
        store.expire(key);
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
    public FenceSource fences() {
        return FenceSource.COUNTER;
    }

    @Override
    public long clockMillis() {
        return clock.getAsLong();
    }

    @Override
    public long storedFence(String key) {
        return store.fence(key);
    }
}
