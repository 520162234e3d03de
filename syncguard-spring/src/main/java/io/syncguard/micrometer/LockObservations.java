package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.syncguard.Fence;
import io.syncguard.LockRequest;
import io.syncguard.core.AcquireObservation;
import io.syncguard.core.HeldObservation;
import io.syncguard.core.LockObserver;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the observations of {@link LockObservationDocumentation}, for traces. Thread-safe.
 *
 * <p>It creates none while the registry has no handlers. An exception of a handler or of the convention is logged, and
 * does not affect the lock.
 */
public final class LockObservations implements LockObserver {

    private final ObservationRegistry registry;
    private final Supplier<? extends @Nullable LockObservationConvention> custom;
    private final LockObservationConvention defaultConvention = new DefaultLockObservationConvention();
    private final BoundedNames names = new BoundedNames();

    /** {@code null} until the first observation. No monitor guards it, because Spring creates beans under its own. */
    private volatile @Nullable Optional<LockObservationConvention> convention;

    public LockObservations(ObservationRegistry registry) {
        this(registry, () -> null);
    }

    /**
     * @param convention supplies the convention that replaces the default one, or {@code null}; called at the first
     *     observation
     */
    public LockObservations(
            ObservationRegistry registry, Supplier<? extends @Nullable LockObservationConvention> convention) {
        this.registry = registry;
        this.custom = convention;
    }

    @Override
    public AcquireObservation acquire(String backend, LockRequest request) {
        return registry.isNoop()
                ? AcquireObservation.NONE
                : new ObservedAcquire(this, new ObservedLock(names.bounded(request.name()), backend, request, null));
    }

    @Override
    public HeldObservation held(String backend, LockRequest request, Fence fence) {
        return registry.isNoop()
                ? HeldObservation.NONE
                : new ObservedHold(this, new ObservedLock(names.bounded(request.name()), backend, request, fence));
    }

    ObservationRegistry registry() {
        return registry;
    }

    /** Starts an observation as a child of the current one of the running thread. */
    ObservedOperation start(LockObservationDocumentation which, ObservedLock lock) {
        LockObservationContext context = new LockObservationContext(which, lock);
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
