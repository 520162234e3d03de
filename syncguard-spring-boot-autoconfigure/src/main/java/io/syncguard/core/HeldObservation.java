package io.syncguard.core;

import io.syncguard.LockReason;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * One lock from its grant to its end, or to the end of its last body if that is later. Either {@link #released} or
 * {@link #lost} is called, once. Threads may share it.
 */
public interface HeldObservation {

    /** Observes nothing. */
    HeldObservation NONE = new HeldObservation() {

        @Override
        public <T extends @Nullable Object> T body(Callable<T> body) throws Exception {
            return body.call();
        }

        @Override
        public LockObservation extend() {
            return LockObservation.NONE;
        }

        @Override
        public LockObservation release() {
            return LockObservation.NONE;
        }

        @Override
        public void released() {}

        @Override
        public void lost(LockReason reason, String explanation) {}
    };

    /** Runs a body under the lock, once, on the running thread. Throws what the body throws. */
    <T extends @Nullable Object> T body(Callable<T> body) throws Exception;

    /** The lease is about to be extended. Another thread may end the extension. */
    LockObservation extend();

    /** The running thread is about to release the lock, and ends the release. */
    LockObservation release();

    /** The lock was released. */
    void released();

    /** The lock was lost. Its bodies may still run. */
    void lost(LockReason reason, String explanation);
}
