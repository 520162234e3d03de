package io.syncguard.micrometer;

import io.syncguard.Fence;
import io.syncguard.LockOutcome;
import io.syncguard.core.AcquireObservation;
import io.syncguard.core.HeldObservation;
import org.jspecify.annotations.Nullable;

/**
 * The observations of an acquisition and of its wait. Each is current while it lasts. Used by one thread, except where
 * {@link AcquireObservation} says otherwise.
 */
final class ObservedAcquire implements AcquireObservation {

    private final ObservationStarter observations;
    private final ObservedLock lock;
    private final ObservedOperation acquire;
    private @Nullable ObservedOperation wait;

    ObservedAcquire(ObservationStarter observations, ObservedLock lock) {
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
        if (isLeftOut()) {
            return;
        }
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

    @Override
    public HeldObservation held(Fence fence) {
        return isLeftOut()
                ? new LeftOutHold(observations, acquire.observation())
                : new ObservedHold(observations, lock.granted(fence), acquire.observation());
    }

    /** Whether its trace, which it may have begun, is not recorded. */
    private boolean isLeftOut() {
        return TraceIds.isLeftOut(acquire.context());
    }
}
