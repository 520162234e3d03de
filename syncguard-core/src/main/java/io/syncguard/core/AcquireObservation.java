package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockOutcome;
import org.jspecify.annotations.Nullable;

/** One acquisition, from the first attempt to the end of the last. The thread that acquires the lock calls it. */
public interface AcquireObservation extends LockObservation {

    /** Observes nothing. */
    AcquireObservation NONE = new AcquireObservation() {

        @Override
        public void contended(@Nullable String owner) {}

        @Override
        public void waits() {}

        @Override
        public void ended(LockOutcome outcome) {}

        @Override
        public void failed(Throwable error) {}

        @Override
        public HeldObservation held(Fence fence) {
            return HeldObservation.NONE;
        }
    };

    /**
     * An attempt was not granted.
     *
     * @param owner the label of the holder; {@code null} if it has none, or if others only wait for the key
     */
    void contended(@Nullable String owner);

    /** The caller has a queue entry, and waits from now until the end of the acquisition. */
    void waits();

    /** The id of its trace; {@code null} if it is not traced. Any thread may ask while the caller waits. */
    default @Nullable String traceId() {
        return null;
    }

    /** Called after the end of the acquisition, by the thread that was granted the lock. */
    HeldObservation held(Fence fence);
}
