package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import io.syncguard.core.AcquireObservation;
import io.syncguard.core.LockObserver;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the observations of {@link LockObservationDocumentation}, for traces. Thread-safe.
 *
 * <p>It creates none while the registry has no handlers, none in a trace that is not sampled, and none of elections,
 * whose members wait and lead for days: a trace must end. An exception of a handler or of the convention is logged, and
 * does not affect the lock.
 */
public final class LockObservations implements LockObserver {

    private final ObservationRegistry registry;
    private final ObservationStarter starter;

    /** The meters have warned of the names. */
    private final BoundedNames names = new BoundedNames(false);

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
        this.starter = new ObservationStarter(registry, convention);
    }

    @Override
    public AcquireObservation acquire(String backend, LockRequest request) {
        return registry.isNoop() || isElection(request) || isLeftOut()
                ? AcquireObservation.NONE
                : new ObservedAcquire(starter, new ObservedLock(names.bounded(request.name()), backend, request, null));
    }

    private static boolean isElection(LockRequest request) {
        return request.name().startsWith(LockLimits.ELECTION_PREFIX);
    }

    /** Whether the trace of the running thread is not recorded. */
    private boolean isLeftOut() {
        Observation current = starter.current();
        return current != null && TraceIds.isLeftOut(current.getContextView());
    }
}
