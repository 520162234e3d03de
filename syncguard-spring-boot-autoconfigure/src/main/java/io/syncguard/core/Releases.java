package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gives locks back: at once on the caller's thread, and what did not get through again and again in the background, until
 * it is of no use any more.
 */
final class Releases implements AutoCloseable {

    private static final Log log = LogFactory.getLog(Releases.class);

    /** The first pause before a release is sent again, 20 ms; it doubles up to two seconds. */
    private static final long FIRST_PAUSE_NANOS = 20_000_000L;

    private static final long LONGEST_PAUSE_NANOS = 2_000_000_000L;

    private final LockBackend backend;
    private final Events events;
    private final Time time;
    private final Map<String, Late> late = new ConcurrentHashMap<>();
    private final Alarm alarm;

    Releases(LockBackend backend, Events events, Time time) {
        this.backend = backend;
        this.events = events;
        this.time = time;
        this.alarm = new Alarm("syncguard-release", time, this::sendLate);
    }

    /**
     * Sends the release of a hold that has begun to end. Interrupts do not keep it from being sent.
     *
     * @return whether it was held until now
     */
    boolean release(Hold hold) {
        return uninterrupted(() -> send(hold));
    }

    /**
     * Sends the release of a lock that was acquired elsewhere. Interrupts do not keep it from being sent.
     *
     * @param patience how long it is sent again while a transaction of somebody else has the row locked
     * @return whether it was held until now
     */
    boolean release(String lockId, Duration patience) {
        ReleaseOutcome outcome = uninterrupted(() -> backend.release(lockId));
        if (outcome == ReleaseOutcome.BUSY) {
            add(
                    lockId,
                    new Late(
                            "released by its lock id",
                            () -> backend.release(lockId) != ReleaseOutcome.BUSY,
                            time.nanoTime() + patience.toNanos()));
        }
        return outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.BUSY;
    }

    /** Releases in the background what nobody holds any more, until it has got through or the ttl is over. */
    void releaseLate(Hold hold) {
        add(
                hold.lockId(),
                new Late(
                        hold.key(),
                        ending(hold),
                        time.nanoTime() + hold.belief().ttl().toNanos()));
    }

    /**
     * Releases in the background what may have been granted, or may be at any moment: "not held" is no final answer until
     * the server must have ended the request by itself.
     */
    void releaseUnknown(Claim claim) {
        String lockId = claim.lockId();
        Ending release = () -> backend.release(lockId) == ReleaseOutcome.RELEASED;
        add(
                lockId,
                new Late(
                        claim.key(),
                        release,
                        time.nanoTime() + backend.settlingTime().toNanos()));
    }

    /** Gives up a place in the queue in the background: nobody waits for that. */
    void leaveQueue(Claim claim) {
        String lockId = claim.lockId();
        add(
                lockId,
                new Late(
                        claim.key(),
                        () -> backend.release(lockId) != ReleaseOutcome.BUSY,
                        time.nanoTime() + backend.placeTtl().toNanos()));
    }

    /**
     * Tries everything that is left once more, on the thread of the caller. No try begins after the settling time: with a
     * server that is away, each takes a network timeout.
     */
    void flush() {
        long deadline = time.nanoTime() + backend.settlingTime().toNanos();
        late.values().removeIf(each -> time.nanoTime() < deadline && each.send());
    }

    @Override
    public void close() {
        alarm.close();
    }

    /** A pool gives no connection to an interrupted thread. */
    private static <T> T uninterrupted(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return work.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean send(Hold hold) {
        ReleaseOutcome outcome;
        try {
            outcome = end(hold);
        } catch (RuntimeException ex) {
            log.warn("Lock '" + hold.key() + "' could not be released; trying again", ex);
            // Like busy: the lease is as it was, and the release is sent again. Listeners may block, and are told after
            // that.
            releaseLate(hold);
            events.failed(hold, LockOperation.RELEASE, failure(ex));
            return ended(hold);
        }
        return accept(hold, outcome);
    }

    private static LockBackendException failure(RuntimeException ex) {
        return ex instanceof LockBackendException known
                ? known
                : new LockBackendException(LockErrorCode.INTERNAL, "The release failed: " + ex.getMessage(), ex);
    }

    private boolean accept(Hold hold, ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.EXPIRED) {
            hold.loseAtRelease(LockReason.EXPIRED, "its lease had lapsed at the server when it was released");
            return false;
        }
        if (outcome == ReleaseOutcome.NOT_FOUND) {
            hold.loseAtRelease(LockReason.NOT_FOUND, "the server did not know it any more when it was released");
            return false;
        }
        if (outcome == ReleaseOutcome.BUSY) {
            releaseLate(hold);
        }
        return ended(hold);
    }

    private boolean ended(Hold hold) {
        hold.endRelease();
        events.of(hold, LockListener::released);
        return true;
    }

    private Ending ending(Hold hold) {
        return () -> end(hold) != ReleaseOutcome.BUSY;
    }

    /** A release that comes too early leaves the key taken for the time that is missing. No thread waits for that. */
    private ReleaseOutcome end(Hold hold) {
        Duration missing = hold.request().holdAtLeast().minus(hold.held());
        if (missing.compareTo(Duration.ZERO) <= 0) {
            return backend.release(hold.lockId());
        }
        // A heartbeat that is under way must not overtake this and lengthen the lease again.
        hold.belief().extending.lock();
        try {
            Extension rest = new Extension(hold.lockId(), Duration.ofMillis(missing.toMillis() + 1));
            ExtendOutcome outcome = backend.extend(List.of(rest)).get(0);
            return asRelease(outcome);
        } finally {
            hold.belief().extending.unlock();
        }
    }

    private static ReleaseOutcome asRelease(ExtendOutcome outcome) {
        if (outcome instanceof ExtendOutcome.Extended) {
            return ReleaseOutcome.RELEASED;
        }
        if (outcome instanceof ExtendOutcome.Busy) {
            return ReleaseOutcome.BUSY;
        }
        return outcome instanceof ExtendOutcome.Expired ? ReleaseOutcome.EXPIRED : ReleaseOutcome.NOT_FOUND;
    }

    private void add(String lockId, Late release) {
        late.put(lockId, release);
        alarm.ringAt(release.nextAt);
    }

    private long sendLate() {
        long now = time.nanoTime();
        late.values().removeIf(each -> now >= each.nextAt && each.send());
        return late.values().stream().mapToLong(each -> each.nextAt).min().orElse(Time.NEVER);
    }

    /** Ends a lease at the server; answers whether that is done with. */
    @FunctionalInterface
    private interface Ending {
        boolean send();
    }

    /**
     * What is still to get through. Its times are written by the background thread, and by the thread that stops the engine;
     * a release that both send does no harm.
     */
    private final class Late {

        private final String key;
        private final Ending ending;
        private final long givesUpAt;
        private volatile long nextAt = time.nanoTime();
        private volatile long pause = FIRST_PAUSE_NANOS;
        private volatile boolean tried;

        Late(String key, Ending ending, long givesUpAt) {
            this.key = key;
            this.ending = ending;
            this.givesUpAt = givesUpAt;
        }

        /** Returns whether it is done with. */
        boolean send() {
            // Looked at first: while a server is away, each try takes a network timeout. Each has one try, however long
            // it waited behind others.
            if (tried && time.nanoTime() >= givesUpAt) {
                return true;
            }
            tried = true;
            try {
                if (ending.send()) {
                    return true;
                }
            } catch (RuntimeException ex) {
                log.debug("Lock '" + key + "' could still not be released", ex);
            }
            nextAt = time.nanoTime() + pause;
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            return false;
        }
    }
}
