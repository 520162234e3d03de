package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockLimits;
import io.syncguard.LockReason;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Ends all leases of a key for an operator, also those of other processes. A lease whose row is locked is tried again
 * for half a second: a heartbeat locks it for a moment, and a commit may take longer. Thread-safe.
 */
final class ForcedReleaser {

    private static final Log log = LogFactory.getLog(ForcedReleaser.class);

    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final Backoff PAUSES = Backoff.doubling(Duration.ofMillis(10), Duration.ofMillis(100));

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;
    private final Time time;

    ForcedReleaser(LockBackend backend, LeaseMonitor monitor, ListenerDispatcher dispatcher, Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
        this.time = time;
    }

    ForcedRelease release(String key, String longReason) {
        String reason = MessageText.shortened(LockLimits.requireNonNull("reason", longReason));
        long until = time.nanoTime() + PATIENCE.toNanos();
        ForcedRelease done = backend.directory().forceRelease(key);
        try {
            for (int tries = 1; done.remaining() > 0 && pause(tries, until); tries++) {
                done = together(done, backend.directory().forceRelease(key));
            }
        } finally {
            // Also if a later try fails: leases may have ended before it.
            ended(done, reason);
        }
        return done;
    }

    /** @return whether there is time for another try */
    private boolean pause(int tries, long until) {
        long left = until - time.nanoTime();
        if (left <= 0) {
            return false;
        }
        try {
            time.sleep(Math.min(left, PAUSES.pauseNanos(tries)));
            return true;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Adds up two tries. The fence of the last one that ended a lease counts, because it is the largest. */
    private static ForcedRelease together(ForcedRelease before, ForcedRelease last) {
        return new ForcedRelease(
                last.key(),
                before.released() + last.released(),
                last.remaining(),
                last.released() > 0 ? last.fence() : before.fence());
    }

    private void ended(ForcedRelease done, String reason) {
        report(done, reason);
        Fence fence = done.fence();
        if (fence != null && done.remaining() == 0) {
            endHere(done.key(), fence);
        }
        dispatcher.forceReleased(done, reason);
    }

    private static void report(ForcedRelease done, String reason) {
        String lock = "Lock '" + done.key() + "' was ";
        String end = " Reason: " + reason;
        if (done.released() == 0 && done.remaining() == 0) {
            log.info(OneLine.of(lock + "to be released by force, but nobody held it." + end));
        } else {
            log.warn(OneLine.of(lock + "released by force: " + done.released() + " lease(s) ended, " + done.remaining()
                    + " remain because of a running commit." + end));
        }
    }

    /** Ends this process's leases now, before their heartbeats. A lease with a larger fence was granted afterwards. */
    private void endHere(String key, Fence fence) {
        for (Lease lease : monitor.leases()) {
            if (lease.key().equals(key) && lease.fence().compareTo(fence) < 0) {
                lease.lose(LockReason.RELEASED_BY_FORCE, "it was released by force");
            }
        }
    }
}
