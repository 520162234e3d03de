package io.syncguard.core;

import io.syncguard.LockOutcome;

/** One operation on a lock. It ends once, by either method. */
public interface LockObservation {

    /** Observes nothing. */
    LockObservation NONE = new LockObservation() {

        @Override
        public void ended(LockOutcome outcome) {}

        @Override
        public void failed(Throwable error) {}
    };

    /** The operation ended with this outcome. */
    void ended(LockOutcome outcome);

    /** The operation failed. */
    void failed(Throwable error);
}
