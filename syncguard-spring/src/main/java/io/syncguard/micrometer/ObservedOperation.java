package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.syncguard.LockOutcome;
import io.syncguard.core.LockObservation;
import org.jspecify.annotations.Nullable;

/** One observation of a lock. Used by one thread at a time. */
final class ObservedOperation implements LockObservation {

    private final LockObservationContext context;
    private final ShieldedObservation observation;

    /** The scope on the running thread; {@code null} without {@link #current}. */
    private Observation.@Nullable Scope scope;

    ObservedOperation(LockObservationContext context, ShieldedObservation observation) {
        this.context = context;
        this.observation = observation;
    }

    /** Makes this the current observation of the running thread. The same thread ends it. */
    ObservedOperation current() {
        scope = observation.openScope();
        return this;
    }

    LockObservationContext context() {
        return context;
    }

    ShieldedObservation observation() {
        return observation;
    }

    @Override
    public void ended(LockOutcome outcome) {
        context.outcome(outcome);
        if (scope != null) {
            observation.close(scope);
        }
        observation.stop();
    }

    @Override
    public void failed(Throwable error) {
        observation.error(error);
        ended(LockOutcome.FAILED);
    }
}
