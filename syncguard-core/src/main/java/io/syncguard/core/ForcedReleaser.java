package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockReason;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Ends the leases of a key for an operator, also those of other processes. A lease whose row is locked is tried again
 * for half a second: a heartbeat locks it for a moment, and a commit may take longer. Thread-safe.
 */
final class ForcedReleaser {

    private static final Log log = LogFactory.getLog(ForcedReleaser.class);

    /** How many leases a message names. */
    private static final int LISTED = 3;

    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final Backoff PAUSES = Backoff.doubling(Duration.ofMillis(10), Duration.ofMillis(100));

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;
    private final Time time;

    /** How many leases have ended. */
    private final LongAdder number = new LongAdder();

    ForcedReleaser(LockBackend backend, LeaseMonitor monitor, ListenerDispatcher dispatcher, Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
        this.time = time;
    }

    /** How many leases it has ended, of all processes. */
    long number() {
        return number.sum();
    }

    /** @param only the fence of the only lease to end; {@code null} for all */
    ForcedRelease release(String key, @Nullable Fence only, String longReason) {
        String reason = MessageText.shortened(LockLimits.requireNonNull("reason", longReason));
        long until = time.nanoTime() + PATIENCE.toNanos();
        ForcedRelease done = backend.directory().forceRelease(key, only);
        try {
            for (int tries = 1; isToTryAgain(done, only) && pause(tries, until); tries++) {
                done = together(done, backend.directory().forceRelease(key, only));
            }
        } finally {
            // Also if a later try fails: leases may have ended before it.
            ended(done, only, reason);
        }
        return done;
    }

    private static boolean isToTryAgain(ForcedRelease done, @Nullable Fence only) {
        return done.remaining().stream()
                .anyMatch(lease -> only == null || lease.fence().equals(only));
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
                Stream.concat(before.released().stream(), last.released().stream())
                        .toList(),
                last.remaining(),
                last.released().isEmpty() ? before.fence() : last.fence());
    }

    private void ended(ForcedRelease done, @Nullable Fence only, String reason) {
        number.add(done.released().size());
        report(done, only, reason);
        endHere(done);
        dispatcher.forceReleased(done, reason);
    }

    private static void report(ForcedRelease done, @Nullable Fence only, String reason) {
        String lock = "Lock '" + done.key() + "' was ";
        String end = ". Reason: " + reason;
        if (!done.released().isEmpty()) {
            String left =
                    isToTryAgain(done, only) ? "; left because of a running commit: " + listed(done.remaining()) : "";
            log.warn(OneLine.of(lock + "released by force: ended " + listed(done.released()) + left + end));
        } else if (isToTryAgain(done, only)) {
            log.warn(OneLine.of(lock + "not released by force because of a running commit under "
                    + listed(done.remaining()) + end));
        } else {
            String holders =
                    done.remaining().isEmpty() ? "nobody held it" : "it is held by " + listed(done.remaining());
            String grant = only == null ? "" : " (fence " + only.value() + ")";
            log.info(OneLine.of(lock + "to be released by force" + grant + ", but " + holders + end));
        }
    }

    /** Names leases, the first {@value #LISTED} of them. */
    private static String listed(List<LockInfo> leases) {
        String named = leases.stream()
                .limit(LISTED)
                .map(lease -> "'" + lease.owner() + "' (fence " + lease.fence().value() + ")")
                .collect(Collectors.joining(", "));
        return leases.size() <= LISTED ? named : named + " and " + (leases.size() - LISTED) + " more";
    }

    /** Ends this process's leases now, before their heartbeats. */
    private void endHere(ForcedRelease done) {
        Set<Fence> ended = done.released().stream().map(LockInfo::fence).collect(Collectors.toUnmodifiableSet());
        for (Lease lease : monitor.leases()) {
            if (lease.key().equals(done.key()) && ended.contains(lease.fence())) {
                lease.lose(LockReason.RELEASED_BY_FORCE, "it was released by force");
            }
        }
    }
}
