package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Starts the observations of locks, with the convention of the application or the default one. Thread-safe. */
final class ObservationStarter {

    private final ObservationRegistry registry;
    private final Supplier<? extends @Nullable LockObservationConvention> custom;
    private final LockObservationConvention defaultConvention = new DefaultLockObservationConvention();

    /** {@code null} until the first observation. No monitor guards it, because Spring creates beans under its own. */
    private volatile @Nullable Optional<LockObservationConvention> convention;

    /** @param custom supplies the convention of the application, or {@code null}; called at the first observation */
    ObservationStarter(ObservationRegistry registry, Supplier<? extends @Nullable LockObservationConvention> custom) {
        this.registry = registry;
        this.custom = custom;
    }

    /** The current observation of the running thread. */
    @Nullable
    Observation current() {
        return registry.getCurrentObservation();
    }

    /** Starts an observation as a child of the current one of the running thread. */
    ObservedOperation start(LockObservationDocumentation which, ObservedLock lock) {
        return start(which, lock, null);
    }

    /** @param otherwise the parent if none is current */
    ObservedOperation start(LockObservationDocumentation which, ObservedLock lock, @Nullable Observation otherwise) {
        LockObservationContext context = new LockObservationContext(which, lock);
        if (otherwise != null && current() == null) {
            context.setParentObservation(otherwise);
        }
        return new ObservedOperation(context, ShieldedObservation.start(() -> {
            LockObservationConvention own = convention();
            return Observation.start(
                    own == null ? null : new NamedConvention(which, own),
                    new NamedConvention(which, defaultConvention),
                    () -> context,
                    registry);
        }));
    }

    private @Nullable LockObservationConvention convention() {
        Optional<LockObservationConvention> known = convention;
        if (known == null) {
            known = Optional.ofNullable(custom.get());
            convention = known;
        }
        return known.orElse(null);
    }
}
