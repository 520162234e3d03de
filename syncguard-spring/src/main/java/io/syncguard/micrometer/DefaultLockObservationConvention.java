package io.syncguard.micrometer;

import static io.syncguard.micrometer.LockObservationDocumentation.HighCardinalityKeys.ERROR_TYPE;
import static io.syncguard.micrometer.LockObservationDocumentation.HighCardinalityKeys.FENCE;
import static io.syncguard.micrometer.LockObservationDocumentation.HighCardinalityKeys.HOLDER_OWNER;
import static io.syncguard.micrometer.LockObservationDocumentation.HighCardinalityKeys.KEY_HASH;
import static io.syncguard.micrometer.LockObservationDocumentation.LowCardinalityKeys.BACKEND;
import static io.syncguard.micrometer.LockObservationDocumentation.LowCardinalityKeys.MODE;
import static io.syncguard.micrometer.LockObservationDocumentation.LowCardinalityKeys.NAME;
import static io.syncguard.micrometer.LockObservationDocumentation.LowCardinalityKeys.OUTCOME;

import io.micrometer.common.KeyValues;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Sets the keys of {@link LockObservationDocumentation}. Keys of locks appear only as hashes. Thread-safe.
 */
public final class DefaultLockObservationConvention implements LockObservationConvention {

    /** Such as {@code lock acquire orders}. */
    @Override
    public String getContextualName(LockObservationContext context) {
        return "lock " + context.observation().operation() + " " + context.name();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        return KeyValues.of(
                NAME.withValue(context.name()),
                MODE.withValue(lowerCase(context.request().mode(), "")),
                BACKEND.withValue(context.backend()),
                OUTCOME.withValue(lowerCase(context.outcome(), "unknown")));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        KeyValues values = KeyValues.of(KEY_HASH.withValue(context.keyHash()));
        if (context.fence() != null) {
            values = values.and(FENCE.withValue(context.fence().toString()));
        }
        Throwable error = context.getError();
        if (error != null) {
            values = values.and(ERROR_TYPE.withValue(
                    lowerCase(context.errorCode(), error.getClass().getName())));
        }
        String owner = context.holderOwner();
        return owner == null ? values : values.and(HOLDER_OWNER.withValue(owner));
    }

    private static String lowerCase(@Nullable Enum<?> value, String otherwise) {
        return value == null ? otherwise : value.name().toLowerCase(Locale.ROOT);
    }
}
