package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.syncguard.LockReason;
import io.syncguard.core.HeldObservation;
import io.syncguard.core.LockObservation;

/**
 * A lock whose acquisition began a trace that is not recorded. What its bodies observe stays in that trace: otherwise
 * each would begin one of its own. Thread-safe.
 */
record LeftOutHold(ObservationStarter starter, ShieldedObservation acquire) implements HeldObservation {

    @Override
    public Body body() {
        if (starter.current() != null) {
            return Body.NONE;
        }
        Observation.Scope scope = acquire.openScope();
        return new Body() {
            @Override
            public void failed(Throwable failure) {}

            @Override
            public void ended() {
                acquire.close(scope);
            }
        };
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
}
