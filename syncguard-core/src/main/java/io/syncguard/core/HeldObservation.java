package io.syncguard.core;

import io.syncguard.LockReason;
import org.jspecify.annotations.Nullable;

/**
 * One lock from its grant to its end, or to the end of its last body if that is later. Either {@link #released} or
 * {@link #lost} is called, once. Thread-safe.
 */
public interface HeldObservation {

    /** Observes nothing. */
    HeldObservation NONE = new HeldObservation() {

        @Override
        public Body body() {
            return Body.NONE;
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

    /** A body under the lock begins on the running thread, which ends it. */
    Body body();

    /** The lease is about to be extended. Another thread may end the extension. */
    LockObservation extend();

    /** The running thread is about to release the lock, and ends the release. */
    LockObservation release();

    /** The id of its trace; {@code null} if it is not traced. Any thread may ask. It runs no code of a tracer. */
    default @Nullable String traceId() {
        return null;
    }

    /** The lock was released. */
    void released();

    /** The lock was lost. Its bodies may still run. */
    void lost(LockReason reason, String explanation);

    /** A body that runs under the lock. */
    interface Body {

        /** Observes nothing. */
        Body NONE = new Body() {

            @Override
            public void failed(Throwable failure) {}

            @Override
            public void ended() {}
        };

        /** The body throws this. {@link #ended} follows. */
        void failed(Throwable failure);

        void ended();
    }
}
