package io.syncguard.micrometer;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import org.jspecify.annotations.Nullable;

/**
 * A convention for one of the observations. Predicates, such as that of {@code management.observations.enable}, see its
 * name before the observation exists.
 *
 * @param of the observation, whose name applies if the convention has none
 * @param convention sets the key values
 */
record NamedConvention(LockObservationDocumentation of, LockObservationConvention convention)
        implements ObservationConvention<LockObservationContext> {

    @Override
    public String getName() {
        String name = convention.getName();
        return name == null ? of.getName() : name;
    }

    @Override
    public @Nullable String getContextualName(LockObservationContext context) {
        return convention.getContextualName(context);
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        return convention.getLowCardinalityKeyValues(context);
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        return convention.getHighCardinalityKeyValues(context);
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return convention.supportsContext(context);
    }
}
