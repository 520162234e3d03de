package io.syncguard.reactive;

import io.syncguard.LockHandle;

/** A lock on its way from the thread that acquired it to the subscription. Only that thread reads and writes it. */
final class Grant {

    private final LockHandle lock;
    private boolean taken;

    Grant(LockHandle lock) {
        this.lock = lock;
    }

    LockHandle lock() {
        return lock;
    }

    /** From here on the subscription releases the lock. */
    LockHandle take() {
        taken = true;
        return lock;
    }

    boolean isTaken() {
        return taken;
    }
}
