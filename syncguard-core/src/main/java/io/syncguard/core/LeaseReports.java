package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Shielded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntPredicate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Reports what happens to leases, to the listeners and to the observer. Thread-safe. */
final class LeaseReports {

    private static final Log log = LogFactory.getLog(LeaseReports.class);

    private final ListenerDispatcher dispatcher;

    LeaseReports(ListenerDispatcher dispatcher) {
        this.dispatcher = dispatcher;
    }

    /** @param waited how long the acquisition took */
    void acquired(Lease lease, Duration waited) {
        if (dispatcher.hasListeners()) {
            dispatcher.inform(event(lease, null, waited), LockListener::acquired);
        }
    }

    /** The holder is about to extend its lease, on the running thread, and reports the end. */
    Extension extension(Lease lease) {
        return new Extension(lease, lease.observation().extend());
    }

    /**
     * The extensions of the heartbeat have ended. Reported as the leases are now, on a thread that nothing waits for.
     */
    void extended(List<LeaseExtension> extensions) {
        if (!dispatcher.isInUse()) {
            return;
        }
        dispatcher.executeLater(() -> {
            List<Runnable> events = extensions.stream()
                    .map(this::eventOf)
                    .filter(Objects::nonNull)
                    .toList();
            return () -> {
                extensions.forEach(LeaseExtension::observe);
                events.forEach(Runnable::run);
            };
        });
    }

    /** The running thread is about to release these together. */
    Release release(List<Lease> leases) {
        return new Release(leases);
    }

    void released(Lease lease) {
        if (dispatcher.hasListeners()) {
            dispatcher.inform(event(lease, null), LockListener::released);
        }
        lease.observation().released();
    }

    /**
     * A loss: the log at once, callbacks and listeners on their threads. Nothing that fails here reaches the caller.
     */
    void lost(Lease lease, LockReason reason, String explanation, List<Runnable> callbacks) {
        Shielded.log(() -> log.warn("Lost lock '" + OneLine.of(lease.key()) + "' after "
                + lease.holdTime().passed().toMillis() + " ms: " + explanation + trace(lease)));
        callbacks.forEach(dispatcher::call);
        dispatcher.executeForLoss(() -> {
            LockEvent event = event(lease, reason);
            return () -> {
                lease.observation().lost(reason, explanation);
                dispatcher.inform(event, LockListener::lost);
            };
        });
    }

    /** For the end of a message of a thread that has no trace of its own. Empty without one. */
    static String trace(Lease lease) {
        String id = lease.observation().traceId();
        return id == null ? "" : " (trace " + id + ")";
    }

    /** Reported on the threads for losses, which nothing waits for. */
    void leaked(Lease lease) {
        dispatcher.executeForLoss(() -> {
            LockEvent event = event(lease, null);
            return () -> dispatcher.inform(event, LockListener::leaked);
        });
    }

    private @Nullable Runnable eventOf(LeaseExtension extension) {
        LockBackendException error = extension.error();
        LockEvent event = event(extension.lease(), null);
        if (error != null) {
            return () ->
                    dispatcher.inform(event, (listener, same) -> listener.failed(same, LockOperation.EXTEND, error));
        }
        return extension.outcome() == LockOutcome.EXTENDED
                ? () -> dispatcher.inform(event, LockListener::extended)
                : null;
    }

    private void failed(Lease lease, LockOperation operation, LockException error) {
        dispatcher.inform(event(lease, null), (listener, event) -> listener.failed(event, operation, error));
    }

    private LockEvent event(Lease lease, @Nullable LockReason reason) {
        return event(lease, reason, lease.holdTime().passed());
    }

    private LockEvent event(Lease lease, @Nullable LockReason reason, Duration elapsed) {
        return dispatcher.event(lease.request(), lease.fence(), reason, elapsed, lease.number());
    }

    /** An extension at the request of the holder. It is reported after its end, because listeners may block. */
    final class Extension {

        private final Lease lease;
        private final LockObservation observation;

        private Extension(Lease lease, LockObservation observation) {
            this.lease = lease;
            this.observation = observation;
        }

        void ended(boolean held) {
            observation.ended(held ? LockOutcome.EXTENDED : LockOutcome.LOST);
            if (held) {
                dispatcher.inform(event(lease, null), LockListener::extended);
            }
        }

        void failed(Throwable failure) {
            observation.failed(failure);
            if (failure instanceof LockException ex) {
                LeaseReports.this.failed(lease, LockOperation.EXTEND, ex);
            }
        }
    }

    /** A release that is under way, of one lease or several. {@link #released} or a loss follows for each. */
    final class Release {

        private final List<Lease> leases;

        /** Each is current within the one before, so the last one ends first. */
        private final List<LockObservation> observations;

        private Release(List<Lease> leases) {
            this.leases = leases;
            this.observations = new ArrayList<>(leases.size());
            leases.forEach(lease -> observations.add(lease.observation().release()));
        }

        /** @param lost whether the lease at this index was lost before */
        void answered(IntPredicate lost) {
            for (int i = observations.size() - 1; i >= 0; i--) {
                observations.get(i).ended(lost.test(i) ? LockOutcome.LOST : LockOutcome.RELEASED);
            }
        }

        /** To be called last: listeners may block. */
        void failed(Throwable failure) {
            for (int i = observations.size() - 1; i >= 0; i--) {
                observations.get(i).failed(failure);
            }
            LockBackendException error = BackendFailure.of("The release failed", failure);
            leases.forEach(lease -> LeaseReports.this.failed(lease, LockOperation.RELEASE, error));
        }
    }
}
