package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.syncguard.LockOutcome;
import io.syncguard.core.LockObservation;
import org.jspecify.annotations.Nullable;

/** One observation of a lock. Used by one thread after the other. */
final class ObservedOperation implements LockObservation {

    private final LockObservationContext context;
    private final ShieldedObservation observation;

    /** Of the running thread. */
    private Observation.@Nullable Scope scope;

    ObservedOperation(LockObservationContext context, ShieldedObservation observation) {
        this.context = context;
        this.observation = observation;
    }

    /** Makes it the current observation of the running thread, which also ends it. */
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
