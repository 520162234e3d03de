package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockLimits;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.Answers;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendRequest.Kind;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Extends leases for their holders, on the holders' threads, and takes the next fence. A locked row is tried again for
 * half a second. Thread-safe.
 */
final class LeaseRenewer {

    /** The pause before a holder's own extension of a locked row is repeated, 10 ms. */
    private static final long BUSY_NANOS = 10_000_000L;

    /** How often a holder's own extension tries a locked row: about half a second in all. */
    private static final int BUSY_TRIES = 50;

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final Heartbeat heartbeat;
    private final LeaseReports reports;
    private final FenceWarning fenceWarning;
    private final Time time;

    LeaseRenewer(
            LockBackend backend,
            LeaseMonitor monitor,
            Heartbeat heartbeat,
            LeaseReports reports,
            FenceWarning fenceWarning,
            Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.heartbeat = heartbeat;
        this.reports = reports;
        this.fenceWarning = fenceWarning;
        this.time = time;
    }

    /**
     * Extends one lease for its holder.
     *
     * @return whether it is still held
     */
    boolean extend(Lease lease, Duration ttl) {
        return extend(lease, LockLimits.ttl(ttl), Kind.HOLDER);
    }

    /**
     * Extends one lease by its ttl for its holder, and takes the next fence for it.
     *
     * @return whether it is still held
     */
    boolean rotateFence(Lease lease) {
        boolean held = extend(lease, null, Kind.NEXT_FENCE);
        if (held) {
            fenceWarning.check(lease.fence(), lease.key());
        }
        return held;
    }

    /**
     * Extends a lease that no handle of this process holds.
     *
     * @return the new end of the lease; empty when it is over
     */
    Optional<Instant> extend(KeyedLockId id, Duration ttl) {
        ExtendRequest request = new ExtendRequest(id, ttl, Kind.HOLDER);
        for (int tries = 1; ; tries++) {
            ExtendResult result = answer(request);
            if (result instanceof ExtendResult.Extended extended) {
                return Optional.of(extended.expiresAt());
            }
            if (!(result instanceof ExtendResult.Busy)) {
                return Optional.empty();
            }
            pauseWhileBusy("a lock", tries);
        }
    }

    private ExtendResult answer(ExtendRequest request) {
        return Answers.awaitOnly(() -> backend.extend(List.of(request)));
    }

    private boolean extend(Lease lease, @Nullable Duration ttl, Kind kind) {
        LeaseReports.Extension report = reports.extension(lease);
        boolean held;
        try {
            held = extendUntilAnswered(lease, ttl, kind);
        } catch (Throwable failure) {
            report.failed(failure);
            throw failure;
        }
        report.ended(held);
        return held;
    }

    private boolean extendUntilAnswered(Lease lease, @Nullable Duration ttl, Kind kind) {
        try (LeaseExtension extension = lease.extend()) {
            for (int tries = 1; lease.isHeld(); tries++) {
                ExtendRequest request = extension.request(ttl, kind);
                monitor.watch(lease);
                ExtendResult result = ask(extension, request);
                boolean held = extension.answered(result);
                if (!(result instanceof ExtendResult.Busy)) {
                    return held;
                }
                pauseWhileBusy("lock '" + lease.key() + "'", tries);
            }
            return false;
        } finally {
            monitor.watch(lease);
            heartbeat.schedule(lease);
        }
    }

    /** The backend knows only the lock id; the error names the key. */
    private ExtendResult ask(LeaseExtension extension, ExtendRequest request) {
        try {
            return answer(request);
        } catch (LockBackendException ex) {
            extension.failed(ex);
            throw new LockBackendException(
                    ex.code(),
                    "Lock '" + extension.lease().key() + "' could not be extended. " + ex.getMessage(),
                    ex.getCause());
        } catch (Throwable ex) {
            extension.failed(BackendFailure.of("The extension failed", ex));
            throw ex;
        }
    }

    private void pauseWhileBusy(String what, int tries) {
        if (tries == BUSY_TRIES) {
            throw new LockBackendException(
                    LockErrorCode.NETWORK_TIMEOUT,
                    "Failed while extending " + what + ": another transaction locks its row. Look for"
                            + " sessions that are idle in transaction",
                    null);
        }
        try {
            time.sleep(BUSY_NANOS);
        } catch (InterruptedException ex) {
            throw LeaseExtension.interrupted(what, ex);
        }
    }
}
