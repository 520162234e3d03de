package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observations of locks, and sets their key values. A bean of this type replaces the
 * {@link DefaultLockObservationConvention}.
 *
 * <p>A convention without a {@link #getName() name} leaves the names of {@link LockObservationDocumentation} as they
 * are. One with a name gives it to all five observations.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }
}
