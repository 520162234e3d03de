package io.syncguard.core;

import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gives locks back: at once on the caller's thread, and what did not get through again and again in the background, until
 * it is of no use any more. What is due in the background goes out in one statement, or one per {@value #CHUNK}, on a connection
 * for which callers do not compete.
 */
final class LockReleaser implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LockReleaser.class);

    /** How many releases one statement of the background sends at most. */
    static final int CHUNK = 500;

    /** How many interrupts may break a release before the background takes it over. */
    private static final int MAX_INTERRUPTS = 1000;

    /** The first pause before a release is sent again, 20 ms. It doubles with each further one. */
    private static final long FIRST_PAUSE_NANOS = 20_000_000L;

    /** The longest pause after an answer, 200 ms: a transaction that had the row locked may have ended. */
    private static final long LONGEST_PAUSE_NANOS = 200_000_000L;

    /** The longest pause after an error, two seconds. */
    private static final long LONGEST_ERROR_PAUSE_NANOS = 2_000_000_000L;

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ListenerDispatcher dispatcher;
    private final Time time;
    private final Map<String, Late> late = new ConcurrentHashMap<>();
    private final Alarm alarm;

    LockReleaser(LockBackend backend, LeaseMonitor monitor, ListenerDispatcher dispatcher, Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.dispatcher = dispatcher;
        this.time = time;
        this.alarm = new Alarm("syncguard-release", time, this::sendLate);
    }

    /**
     * Releases a lease of this process. It ignores interrupts, whenever they come.
     *
     * @return whether it was held until now
     */
    boolean release(Lease lease) {
        if (!lease.beginRelease()) {
            if (lease.phase() == Lease.Phase.LOST) {
                // The server may still have a lease whose extension came too late. Its body has ended: the key can be
                // free.
                releaseLater(lease);
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
     * Sends the release of a lock that was acquired elsewhere. It ignores interrupts, whenever they come.
     *
     * @param patience how long it is sent again while a transaction of somebody else has the row locked
     * @return whether it was held until now
     */
    boolean release(String lockId, Duration patience) {
        ReleaseResult result = uninterrupted(() -> backend.release(lockId));
        if (result == ReleaseResult.BUSY) {
            add(new Late(lockId, null, LockReleaser::isEnded, patience));
        }
        return result == ReleaseResult.RELEASED || result == ReleaseResult.BUSY;
    }

    /** Releases in the background what is not held any more, until that got through or the ttl is over. */
    void releaseLater(Lease lease) {
        add(new Late(lease.lockId(), lease, LockReleaser::isEnded, lease.ttl()));
    }

    /**
     * Releases in the background what is in doubt: "not held" is no final answer until the server must have ended the request by
     * itself.
     */
    void releaseInDoubt(String lockId) {
        add(new Late(lockId, null, result -> result == ReleaseResult.RELEASED, backend.inDoubtPeriod()));
    }

    /** Deletes a queue entry in the background: nobody waits for that. */
    void leaveQueue(String lockId) {
        add(new Late(lockId, null, LockReleaser::isEnded, backend.waiterTtl()));
    }

    /**
     * Tries everything that is left once more, on the thread of the caller: together, and one by one what failed together. No try
     * begins after the in-doubt period: with a server that is away, each takes a network timeout.
     */
    void flush() {
        long deadline = time.nanoTime() + backend.inDoubtPeriod().toNanos();
        send(List.copyOf(late.values()), deadline);
        late.values().forEach(each -> send(List.of(each), deadline));
    }

    @Override
    public void close() {
        alarm.close();
    }

    /**
     * A pool gives no connection to an interrupted thread, and an interrupt may break the connection of a virtual one. So the flag
     * is down while the release is sent, and a release that was broken by an interrupt is sent again.
     */
    private static ReleaseResult uninterrupted(Supplier<ReleaseResult> release) {
        boolean interrupted = false;
        boolean inDoubt = false;
        try {
            for (int tries = 0; ; tries++) {
                interrupted |= Thread.interrupted();
                try {
                    ReleaseResult result = release.get();
                    // What is gone by now was ended by the release whose answer was lost.
                    return inDoubt && result == ReleaseResult.NOT_FOUND ? ReleaseResult.RELEASED : result;
                } catch (RuntimeException | Error ex) {
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

    private boolean send(Lease lease) {
        ReleaseResult result;
        try {
            result = uninterrupted(() -> end(lease));
        } catch (RuntimeException | Error ex) {
            // Like busy: the lease is unchanged, and the release is repeated. An Error, too: without memory or threads,
            // the
            // key must not stay taken. Listeners may block, so they are told after that.
            releaseLater(lease);
            Shielded.log(() -> log.warn("Lock '" + lease.key() + "' could not be released; trying again", ex));
            dispatcher.failed(lease, LockOperation.RELEASE, BackendFailure.of("The release failed", ex));
            return ended(lease);
        }
        return accept(lease, result);
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
            releaseLater(lease);
        }
        return ended(lease);
    }

    private boolean ended(Lease lease) {
        lease.released();
        dispatcher.dispatch(lease, LockListener::released);
        return true;
    }

    private static boolean isEnded(ReleaseResult result) {
        return result != ReleaseResult.BUSY;
    }

    /** To the millisecond that stores count in, never earlier. */
    private static Duration wholeMillis(Duration time) {
        return Duration.ofMillis(time.plusNanos(999_999).toMillis());
    }

    private static boolean isEarly(Lease lease) {
        return lease.held().compareTo(lease.request().holdAtLeast()) < 0;
    }

    /** An early release leaves the key taken for the time that is missing. No thread waits for that. */
    private ReleaseResult end(Lease lease) {
        return isEarly(lease)
                ? backend.releaseAfter(
                        lease.lockId(), wholeMillis(lease.request().holdAtLeast()))
                : backend.release(lease.lockId());
    }

    private void add(Late release) {
        late.put(release.lockId, release);
        alarm.ringAt(release.nextAt);
    }

    private long sendLate() {
        long now = time.nanoTime();
        send(late.values().stream().filter(each -> now >= each.nextAt).toList(), Time.NEVER);
        return late.values().stream().mapToLong(each -> each.nextAt).min().orElse(Time.NEVER);
    }

    /** No try begins after the deadline. */
    private void send(List<Late> due, long deadline) {
        List<Late> together = new ArrayList<>();
        for (Late each : due) {
            if (each.isOver()) {
                late.remove(each.lockId, each);
            } else if (each.lease == null || !isEarly(each.lease)) {
                together.add(each);
            } else if (time.nanoTime() < deadline) {
                Lease early = each.lease;
                send(List.of(each), () -> List.of(end(early)));
            }
        }
        for (int from = 0; from < together.size() && time.nanoTime() < deadline; from += CHUNK) {
            List<Late> chunk = together.subList(from, Math.min(together.size(), from + CHUNK));
            List<String> lockIds = chunk.stream().map(each -> each.lockId).toList();
            send(chunk, () -> backend.releaseAll(lockIds));
        }
    }

    private void send(List<Late> releases, Supplier<List<ReleaseResult>> server) {
        releases.forEach(each -> each.tried = true);
        try {
            List<ReleaseResult> results = server.get();
            for (int i = 0; i < releases.size(); i++) {
                Late release = releases.get(i);
                if (release.isDone.test(results.get(i))) {
                    late.remove(release.lockId, release);
                } else {
                    release.pause(LONGEST_PAUSE_NANOS);
                }
            }
        } catch (RuntimeException | Error ex) {
            releases.forEach(each -> each.pause(LONGEST_ERROR_PAUSE_NANOS));
            Shielded.log(() -> log.debug(releases.size() + " lock(s) could still not be released", ex));
        }
    }

    /**
     * What is still to get through. Its times are written by the background thread, and by the thread that stops the engine;
     * a release that both send does no harm.
     */
    private final class Late {

        private final String lockId;

        /** May have to be held for a while yet. */
        private final @Nullable Lease lease;

        private final Predicate<ReleaseResult> isDone;
        private final long givesUpAt;
        private volatile long nextAt = time.nanoTime();
        private volatile long pause = FIRST_PAUSE_NANOS;
        private volatile boolean tried;

        Late(String lockId, @Nullable Lease lease, Predicate<ReleaseResult> isDone, Duration patience) {
            this.lockId = lockId;
            this.lease = lease;
            this.isDone = isDone;
            this.givesUpAt = time.nanoTime() + patience.toNanos();
        }

        /** Each has one try, however long it waited behind others. */
        boolean isOver() {
            return tried && time.nanoTime() >= givesUpAt;
        }

        void pause(long longest) {
            nextAt = time.nanoTime() + Math.min(pause, longest);
            pause = Math.min(2 * pause, LONGEST_ERROR_PAUSE_NANOS);
        }
    }
}
