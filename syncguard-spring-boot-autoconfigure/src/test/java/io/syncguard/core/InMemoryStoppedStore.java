package io.syncguard.core;

import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** An in-memory store whose clock a test moves. */
final class InMemoryStoppedStore implements StoppedStore {

    private final AtomicLong millis = new AtomicLong(1_000_000);
    private final InMemoryLockBackend.Store store = new InMemoryLockBackend.Store(millis::get, WAITER_TTL);

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
    public void close() {}
}
