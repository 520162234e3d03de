package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockLimits;
import io.syncguard.LockReason;
import io.syncguard.OneLine;
import io.syncguard.spi.LockBackend;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Ends all leases of a key for an operator, also those of other processes. Threads may share it. */
final class ForcedReleaser {

    private static final Log log = LogFactory.getLog(ForcedReleaser.class);

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;

    ForcedReleaser(LockBackend backend, LeaseMonitor monitor, ListenerDispatcher dispatcher) {
        this.backend = backend;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
    }

    ForcedRelease release(String key, String reason) {
        LockLimits.given("reason", reason);
        ForcedRelease done = backend.forceRelease(key);
        report(done, reason);
        Fence fence = done.fence();
        if (fence != null && done.remaining() == 0) {
            endHere(key, fence);
        }
        dispatcher.forceReleased(done, reason);
        return done;
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

    /** Their heartbeats would detect it, too, but later. A lease with a larger fence was granted afterwards. */
    private void endHere(String key, Fence fence) {
        for (Lease lease : monitor.leases()) {
            if (lease.key().equals(key) && lease.fence().compareTo(fence) < 0) {
                lease.lose(LockReason.RELEASED_BY_FORCE, "it was released by force");
            }
        }
    }
}
