package io.syncguard.core;

import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** An in-memory store whose clock a test moves. */
final class InMemoryStoppedStore implements StoppedStore {

    private final AtomicLong millis = new AtomicLong(1_000_000);
    private final FenceSource fences;
    private final InMemoryStore store;

    InMemoryStoppedStore(FenceSource fences) {
        this.fences = fences;
        this.store = new InMemoryStore(millis::get, WAITER_TTL, fences);
    }

    @Override
    public FenceSource fences() {
        return fences;
    }

    @Override
    public LockBackend newBackend() {
        return new InMemoryLockBackend(store);
    }

    @Override
    public void moveClock(Duration by) {
        millis.addAndGet(by.toMillis());
    }

    @Override
    public void sweep(String key) {
        store.sweep(key);
    }

    @Override
    public void loseCounter(String key) {
        store.loseCounter(key);
    }

    @Override
    public void close() {}
}
