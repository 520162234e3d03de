package io.syncguard.verification.inputs;

import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;

/** Locks in memory. */
class InMemoryInputTests extends LockInputContract {

    InMemoryInputTests() {
        super(InputSettings.of(5_000, 88));
    }

    @Override
    LockBackend open() {
        return new InMemoryLockBackend();
    }
}
