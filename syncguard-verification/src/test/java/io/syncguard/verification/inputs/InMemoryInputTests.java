package io.syncguard.verification.inputs;

import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;

/** Locks in memory. */
class InMemoryInputTests extends LockInputContract {

    InMemoryInputTests() {
        super(InputSettings.of(20_000, 40));
    }

    @Override
    LockBackend open() {
        return new InMemoryLockBackend();
    }
}
