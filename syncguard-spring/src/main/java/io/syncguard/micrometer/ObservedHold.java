package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationView;
import io.syncguard.LockLostException;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.concurrent.Chain;
import io.syncguard.core.HeldObservation;
import io.syncguard.core.LockObservation;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The observation of a lock that is held. It stops when the lock and its last body have ended. Thread-safe.
 */
final class ObservedHold implements HeldObservation {

    private final ObservationStarter observations;
    private final ObservedLock lock;
    private final ObservedOperation held;
    private final ShieldedObservation observation;

    /** Counts the lock and each running body. At zero, the observation has stopped. */
    private final AtomicInteger users = new AtomicInteger(1);

    /** @param acquire the parent if none is current, so that both are in one trace */
    ObservedHold(ObservationStarter observations, ObservedLock lock, ShieldedObservation acquire) {
        this.observations = observations;
        this.lock = lock;
        this.held = observations.start(LockObservationDocumentation.HELD, lock, acquire.observation());
        this.observation = held.observation();
    }

    @Override
    public Body body() {
        // After the end of the lock, a body fails at once, so there is nothing to observe.
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
    public @Nullable String traceId() {
        return TraceIds.of(held.context());
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
        observation.error(new LockLostException(
                lock.request().key(), reason, "The lock was lost (" + reason + "): " + explanation, null));
        leave();
    }

    /**
     * Whether this observation, or a child of it, is current on the running thread. The current one then stays the
     * parent.
     */
    private boolean isCurrent() {
        ObservationView current = observations.current();
        return Chain.of(current, each -> each.getContextView().getParentObservation())
                .anyMatch(each -> each == observation.observation());
    }

    /**
     * Starts a child of this observation, whatever is current. Sets this observation as current for that, because a
     * tracer prefers the current span to the parent of a context.
     */
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
