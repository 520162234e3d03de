package io.syncguard.micrometer;

import io.syncguard.LockOutcome;
import io.syncguard.core.AcquireObservation;
import org.jspecify.annotations.Nullable;

/**
 * The observations of an acquisition and of its wait. Each is current while it lasts. Used by one thread, except where
 * {@link AcquireObservation} says otherwise.
 */
final class ObservedAcquire implements AcquireObservation {

    private final LockObservations observations;
    private final ObservedLock lock;
    private final ObservedOperation acquire;
    private @Nullable ObservedOperation wait;

    ObservedAcquire(LockObservations observations, ObservedLock lock) {
        this.observations = observations;
        this.lock = lock;
        this.acquire =
                observations.start(LockObservationDocumentation.ACQUIRE, lock).current();
    }

    @Override
    public void contended(@Nullable String owner) {
        acquire.context().holderOwner(owner);
        if (wait != null) {
            wait.context().holderOwner(owner);
        }
    }

    @Override
    public void waits() {
        wait = observations.start(LockObservationDocumentation.WAIT, lock).current();
        wait.context().holderOwner(acquire.context().holderOwner());
    }

    @Override
    public @Nullable String traceId() {
        return TraceIds.of(acquire.context());
    }

    @Override
    public void ended(LockOutcome outcome) {
        if (wait != null) {
            wait.ended(outcome);
        }
        acquire.ended(outcome);
    }

    @Override
    public void failed(Throwable error) {
        if (wait != null) {
            wait.failed(error);
        }
        acquire.failed(error);
    }
}
