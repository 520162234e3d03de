package io.syncguard.core;

import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Shielded;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Releases locks on the caller's thread. It ignores interrupts, whenever they come. The {@link BackgroundReleaser}
 * repeats a release that does not succeed. Threads may share it.
 */
final class LockReleaser {

    private static final Log log = LogFactory.getLog(LockReleaser.class);

    /** How many interrupts may break a release before the background takes it over. */
    private static final int MAX_INTERRUPTS = 1000;

    private final LockBackend backend;
    private final BackgroundReleaser background;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;

    LockReleaser(
            LockBackend backend, BackgroundReleaser background, LeaseMonitor monitor, ListenerDispatcher dispatcher) {
        this.backend = backend;
        this.background = background;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
    }

    /**
     * Releases a lease of this process.
     *
     * @return whether it was held until now
     */
    boolean release(Lease lease) {
        if (!lease.beginRelease()) {
            if (lease.phase() == Lease.Phase.LOST) {
                // The lease may still be live at the server, after a late extension. Its body has ended, so the key can
                // be free.
                background.release(lease);
            }
            return false;
        }
        try {
            return send(lease);
        } finally {
            monitor.remove(lease);
        }
    }

    /**
     * Releases a lease that was lost while a transaction committed under it.
     *
     * @return whether the server had it until now, lapsed or not: then nobody else was granted the key
     */
    boolean releaseAfterCommit(Lease lease) {
        try {
            ReleaseResult result = uninterrupted(() -> end(lease));
            if (result == ReleaseResult.BUSY) {
                background.release(lease);
            }
            return result != ReleaseResult.NOT_FOUND;
        } catch (RuntimeException | Error ex) {
            background.release(lease);
            Shielded.log(() -> log.debug(
                    "Lock '" + OneLine.of(lease.key()) + "' is reported as lost: the server does not tell whether it"
                            + " kept it until the body ended",
                    ex));
            return false;
        }
    }

    /**
     * Releases a lease of another process.
     *
     * @param patience how long the background repeats it while another transaction locks the row
     * @return whether it was held until now
     */
    boolean release(String lockId, Duration patience) {
        ReleaseResult result = uninterrupted(() -> backend.release(lockId));
        if (result == ReleaseResult.BUSY) {
            background.release(lockId, patience);
        }
        return result == ReleaseResult.RELEASED || result == ReleaseResult.BUSY;
    }

    private boolean send(Lease lease) {
        LockObservation observation = lease.observation().release();
        ReleaseResult result;
        try {
            result = uninterrupted(() -> end(lease));
        } catch (Throwable ex) {
            // As after a busy answer, the lease is unchanged and the release is repeated: the key must not stay taken.
            // The same holds for an Error, such as a lack of memory or threads. Listeners may block, so they run after
            // that.
            background.release(lease);
            observation.failed(ex);
            Shielded.log(
                    () -> log.warn("Lock '" + OneLine.of(lease.key()) + "' could not be released; trying again", ex));
            dispatcher.failed(lease, LockOperation.RELEASE, BackendFailure.of("The release failed", ex));
            return ended(lease);
        }
        observation.ended(isLost(result) ? LockOutcome.LOST : LockOutcome.RELEASED);
        return accept(lease, result);
    }

    /** An early release leaves the key taken until {@code holdAtLeast} is over. No thread waits for that. */
    private ReleaseResult end(Lease lease) {
        return lease.holdTime().isEarly()
                ? backend.releaseAfter(lease.lockId(), lease.holdTime().atLeast())
                : backend.release(lease.lockId());
    }

    /**
     * A pool gives no connection to an interrupted thread, and an interrupt may break the connection of a virtual one.
     * So the flag is cleared while the release is sent, and a release that an interrupt broke is sent again.
     */
    private static ReleaseResult uninterrupted(Supplier<ReleaseResult> release) {
        boolean interrupted = false;
        boolean inDoubt = false;
        try {
            for (int tries = 0; ; tries++) {
                interrupted |= Thread.interrupted();
                try {
                    ReleaseResult result = release.get();
                    // The release whose answer was lost has ended the lease.
                    return inDoubt && result == ReleaseResult.NOT_FOUND ? ReleaseResult.RELEASED : result;
                } catch (Throwable ex) {
                    if (!Thread.currentThread().isInterrupted() || tries == MAX_INTERRUPTS) {
                        throw ex;
                    }
                    inDoubt |= InDoubt.is(ex);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isLost(ReleaseResult result) {
        return result == ReleaseResult.EXPIRED || result == ReleaseResult.NOT_FOUND;
    }

    private boolean accept(Lease lease, ReleaseResult result) {
        if (result == ReleaseResult.EXPIRED) {
            lease.loseAtRelease(LockReason.EXPIRED, "its lease had lapsed at the server when it was released");
            return false;
        }
        if (result == ReleaseResult.NOT_FOUND) {
            lease.loseAtRelease(LockReason.NOT_FOUND, "the server did not know it any more when it was released");
            return false;
        }
        if (result == ReleaseResult.BUSY) {
            background.release(lease);
        }
        return ended(lease);
    }

    private boolean ended(Lease lease) {
        lease.released();
        dispatcher.dispatch(lease, LockListener::released);
        lease.observation().released();
        return true;
    }
}
