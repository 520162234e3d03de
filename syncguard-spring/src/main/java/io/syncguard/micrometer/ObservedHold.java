package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationView;
import io.syncguard.LockLostException;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.core.HeldObservation;
import io.syncguard.core.LockObservation;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The observation of a lock that is held. It stops when the lock and its last body have ended. Thread-safe.
 */
final class ObservedHold implements HeldObservation {

    private final LockObservations observations;
    private final ObservedLock lock;
    private final ObservedOperation held;
    private final ShieldedObservation observation;

    /** One for the lock, and one for each body that runs. At zero the observation has stopped. */
    private final AtomicInteger users = new AtomicInteger(1);

    ObservedHold(LockObservations observations, ObservedLock lock) {
        this.observations = observations;
        this.lock = lock;
        this.held = observations.start(LockObservationDocumentation.HELD, lock);
        this.observation = held.observation();
    }

    @Override
    public Body body() {
        // After the end of the lock a body fails at once, and there is nothing to observe.
        if (users.getAndUpdate(number -> number == 0 ? 0 : number + 1) == 0) {
            return Body.NONE;
        }
        Observation.Scope scope = isCurrent() ? Observation.Scope.NOOP : observation.openScope();
        return new Body() {
            @Override
            public void failed(Throwable failure) {
                observation.error(failure);
            }

            @Override
            public void ended() {
                observation.close(scope);
                leave();
            }
        };
    }

    @Override
    public LockObservation extend() {
        return start(LockObservationDocumentation.EXTEND);
    }

    @Override
    public LockObservation release() {
        return start(LockObservationDocumentation.RELEASE).current();
    }

    @Override
    public void released() {
        held.context().outcome(LockOutcome.RELEASED);
        leave();
    }

    @Override
    public void lost(LockReason reason, String explanation) {
        held.context().outcome(LockOutcome.LOST);
        observation.event(LockObservationDocumentation.Events.LOST);
        observation.error(
                new LockLostException(lock.request().key(), "The lock was lost (" + reason + "): " + explanation));
        leave();
    }

    /** Whether the running thread already works within this lock. What is current there stays the parent. */
    private boolean isCurrent() {
        ObservationView current = observations.registry().getCurrentObservation();
        while (current != null && current != observation.observation()) {
            current = current.getContextView().getParentObservation();
        }
        return current != null;
    }

    /** Within this lock, whatever is current. A parent that is only named would come after the current span. */
    private ObservedOperation start(LockObservationDocumentation which) {
        Observation.Scope scope = observation.openScope();
        try {
            return observations.start(which, lock);
        } finally {
            observation.close(scope);
        }
    }

    private void leave() {
        if (users.decrementAndGet() == 0) {
            observation.stop();
        }
    }
}
