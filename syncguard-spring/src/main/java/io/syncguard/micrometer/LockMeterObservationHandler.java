package io.syncguard.micrometer;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;

/**
 * Keeps other handlers from making meters of lock observations, because {@link LockMeters} counts them already. Of the
 * handlers that make meters, only the first that supports a context receives it.
 */
public final class LockMeterObservationHandler implements MeterObservationHandler<LockObservationContext> {

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }
}
