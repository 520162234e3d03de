package io.syncguard.core;

import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;

class InMemoryLockBackendTests extends LockBackendContract {

    private final InMemoryLockBackend.Store store =
            new InMemoryLockBackend.Store(() -> Time.SYSTEM.nanoTime() / 1_000_000);

    @Override
    protected LockBackend newBackend() {
        return new InMemoryLockBackend(store);
    }

    @Override
    protected void expire(String key) {
        store.expire(key);
    }

    @Override
    protected long storedFence(String key) {
        return store.fence(key);
    }
}
