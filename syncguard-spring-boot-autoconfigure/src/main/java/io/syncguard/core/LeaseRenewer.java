package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockOperation;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Extends leases: all that are due together, and one when its holder asks.
 *
 * <p>The thread {@code syncguard-heartbeat} sends one statement per tick, or one per {@value #CHUNK} leases. A holder's own extension
 * is sent on the holder's thread. A lease that is due soon is taken along: leases that were acquired at different times travel
 * together from their first tick on. A tick that failed is repeated sooner. A lease that the server no longer knows is lost. The
 * others go on in each case.
 */
final class LeaseRenewer implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LeaseRenewer.class);

    /** How many leases one statement extends at most. */
    static final int CHUNK = 500;

    /** The pause before a holder's own extension of a locked row is repeated, 10 ms. */
    private static final long BUSY_NANOS = 10_000_000L;

    /** How often a holder's own extension tries a locked row: about half a second in all. */
    private static final int BUSY_TRIES = 50;

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;
    private final FenceWarning fenceWarning;
    private final Time time;
    private final Alarm alarm;

    /** The statements that failed since one did not. Used by the heartbeat's thread alone. */
    private int failures;

    /** Whether the log has a warning of them. Used by the heartbeat's thread alone. */
    private boolean warned;

    LeaseRenewer(
            LockBackend backend,
            LeaseMonitor monitor,
            ListenerDispatcher dispatcher,
            FenceWarning fenceWarning,
            Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
        this.fenceWarning = fenceWarning;
        this.time = time;
        this.alarm = new Alarm("syncguard-heartbeat", time, this::tick);
    }

    /** Takes notice of a lease that the heartbeat is to extend. */
    void schedule(Lease lease) {
        if (lease.schedule().isOn()) {
            alarm.ringAt(lease.schedule().dueAt());
        }
    }

    /**
     * Extends one lease for its holder.
     *
     * @return whether it is still held
     */
    boolean extend(Lease lease, Duration ttl) {
        return extend(lease, LockLimits.ttl(ttl), backend::extend);
    }

    /**
     * Extends one lease by its ttl for its holder, and takes the next fence for it.
     *
     * @throws LockLostException when it is not held any more
     */
    Fence rotateFence(Lease lease) {
        if (!extend(lease, null, backend::rotate)) {
            throw lease.notHeldException();
        }
        fenceWarning.check(lease.fence(), lease.key());
        return lease.fence();
    }

    /**
     * Extends a lease that no handle of this process holds.
     *
     * @return the new end of the lease; empty when it is over
     */
    Optional<Instant> extend(ExtendRequest request) {
        for (int tries = 1; ; tries++) {
            ExtendResult result = backend.extend(request);
            if (result instanceof ExtendResult.Extended extended) {
                return Optional.of(extended.expiresAt());
            }
            if (!(result instanceof ExtendResult.Busy)) {
                return Optional.empty();
            }
            pauseWhileBusy("a lock", tries);
        }
    }

    @Override
    public void close() {
        alarm.close();
    }

    /** Listeners may block. They are told after the extension has ended. */
    private boolean extend(Lease lease, @Nullable Duration ttl, Function<ExtendRequest, ExtendResult> server) {
        try {
            boolean held = extendUntilAnswered(lease, ttl, server);
            if (held) {
                dispatcher.dispatch(lease, LockListener::extended);
            }
            return held;
        } catch (LockException ex) {
            dispatcher.failed(lease, LockOperation.EXTEND, ex);
            throw ex;
        }
    }

    private boolean extendUntilAnswered(
            Lease lease, @Nullable Duration ttl, Function<ExtendRequest, ExtendResult> server) {
        try (LeaseExtension extension = lease.extend()) {
            for (int tries = 1; lease.isHeld(); tries++) {
                ExtendRequest request = extension.request(ttl);
                monitor.watch(lease);
                ExtendResult result = ask(extension, request, server);
                boolean held = extension.answered(result);
                if (!(result instanceof ExtendResult.Busy)) {
                    return held;
                }
                pauseWhileBusy("lock '" + lease.key() + "'", tries);
            }
            return false;
        } finally {
            monitor.watch(lease);
            schedule(lease);
        }
    }

    /** The backend knows only the lock id; the error names the key. */
    private static ExtendResult ask(
            LeaseExtension extension, ExtendRequest request, Function<ExtendRequest, ExtendResult> server) {
        try {
            return server.apply(request);
        } catch (LockBackendException ex) {
            extension.failed(ex);
            throw new LockBackendException(
                    ex.code(),
                    "Lock '" + extension.lease().key() + "' could not be extended. " + ex.getMessage(),
                    ex.getCause());
        } catch (RuntimeException | Error ex) {
            extension.failed(BackendFailure.of("The extension failed", ex));
            throw ex;
        }
    }

    private long tick() {
        long now = time.nanoTime();
        List<Lease> due = monitor.leases().stream()
                .filter(lease -> lease.schedule().isDue(now) && lease.isHeld())
                .toList();
        for (int from = 0; from < due.size(); from += CHUNK) {
            extendAll(due.subList(from, Math.min(due.size(), from + CHUNK)));
        }
        return nextTick();
    }

    private void extendAll(List<Lease> due) {
        List<LeaseExtension> extensions = new ArrayList<>();
        try {
            due.forEach(lease -> begin(lease, extensions));
            if (!extensions.isEmpty()) {
                send(extensions);
            }
        } finally {
            extensions.forEach(LeaseExtension::close);
        }
    }

    private void begin(Lease lease, List<LeaseExtension> extensions) {
        LeaseExtension extension = lease.tryExtend();
        if (extension == null) {
            // Its holder is extending it.
            lease.schedule().postpone(time.nanoTime());
        } else if (lease.isHeld()) {
            extensions.add(extension);
        } else {
            extension.close();
        }
    }

    private void send(List<LeaseExtension> extensions) {
        List<ExtendRequest> requests =
                extensions.stream().map(each -> each.request(null)).toList();
        try {
            List<ExtendResult> results = backend.extend(requests);
            succeeded();
            List<Lease> extended = new ArrayList<>();
            for (int i = 0; i < results.size(); i++) {
                Lease lease = extensions.get(i).lease();
                boolean held = extensions.get(i).answered(results.get(i));
                if (held) {
                    monitor.watch(lease);
                }
                if (held && results.get(i) instanceof ExtendResult.Extended) {
                    extended.add(lease);
                }
            }
            dispatcher.dispatchLater(extended, LockListener::extended);
        } catch (RuntimeException | Error ex) {
            // An Error, too: without memory or threads, the other leases are extended, and these are tried again.
            failed(extensions, BackendFailure.of("The heartbeat failed", ex));
        }
    }

    /** Warns once per outage, and only of leases that can still be saved: the loss of the others is a warning of its own. */
    private void failed(List<LeaseExtension> extensions, LockBackendException error) {
        failures++;
        List<Lease> leases = extensions.stream().map(LeaseExtension::lease).toList();
        extensions.forEach(each -> each.failed(error));
        leases.forEach(lease -> lease.schedule().postpone(time.nanoTime()));
        long held = leases.stream().filter(Lease::isHeld).count();
        if (!warned && held > 0) {
            warned = true;
            Shielded.log(() -> log.warn(
                    "The heartbeat could not extend " + held + " lock(s) and tries again; each is held until its ttl is"
                            + " over",
                    error));
        } else {
            Shielded.log(() -> log.debug(
                    "The heartbeat could not extend " + leases.size() + " lock(s), " + held + " of them still held",
                    error));
        }
        dispatcher.dispatchLater(leases, (listener, event) -> listener.failed(event, LockOperation.EXTEND, error));
    }

    private void succeeded() {
        if (warned) {
            int failed = failures;
            Shielded.log(() -> log.info("The heartbeat extends locks again, after " + failed + " failed attempt(s)"));
        }
        warned = false;
        failures = 0;
    }

    private void pauseWhileBusy(String what, int tries) {
        if (tries == BUSY_TRIES) {
            throw new LockBackendException(
                    LockErrorCode.NETWORK_TIMEOUT,
                    "Failed while extending " + what + ": another transaction keeps its row locked. Look for"
                            + " sessions that are idle in transaction",
                    null);
        }
        try {
            time.sleep(BUSY_NANOS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new LockException(
                    LockErrorCode.ABORTED, "Interrupted while extending " + what + ", which is held as before", ex);
        }
    }

    private long nextTick() {
        long next = Time.NEVER;
        for (Lease lease : monitor.leases()) {
            if (lease.schedule().isOn() && lease.isHeld()) {
                next = Math.min(next, lease.schedule().dueAt());
            }
        }
        return next;
    }
}
