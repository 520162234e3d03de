package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gives locks back: at once on the caller's thread, and what did not get through again and again in the background, until
 * the lease is over by itself.
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
        // A pool gives no connection to an interrupted thread.
        boolean interrupted = Thread.interrupted();
        try {
            return send(hold);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Releases in the background, until it has got through or the ttl is over. Returns at once.
     *
     * @param mayStillBeGranted whether the server may be about to grant it, so that "not held" is no final answer
     */
    void releaseLate(String lockId, String key, Duration ttl, boolean mayStillBeGranted) {
        long now = time.nanoTime();
        late.put(lockId, new Late(key, now + ttl.toNanos(), mayStillBeGranted, FIRST_PAUSE_NANOS, now));
        alarm.ringAt(now);
    }

    /**
     * Tries everything that is left once more, on the thread of the caller.
     *
     * @param atMost when to begin no further try: each may take a network timeout
     */
    void flush(Duration atMost) {
        long deadline = time.nanoTime() + atMost.toNanos();
        late.entrySet().removeIf(entry -> time.nanoTime() < deadline && sendLate(entry.getKey(), entry.getValue()));
    }

    @Override
    public void close() {
        alarm.close();
    }

    private boolean send(Hold hold) {
        Duration early = hold.request().holdAtLeast().minus(hold.held());
        boolean kept = early.compareTo(Duration.ZERO) > 0;
        try {
            return accept(hold, kept ? keep(hold, early) : backend.release(hold.lockId()));
        } catch (LockBackendException ex) {
            events.failed(hold, LockOperation.RELEASE, ex);
            log.warn(
                    "Lock '" + hold.key() + "' could not be released; " + (kept ? "its ttl ends it" : "trying again"),
                    ex);
            return accept(hold, kept ? ReleaseOutcome.RELEASED : ReleaseOutcome.BUSY);
        }
    }

    /** A release that comes too early leaves the key taken for the time that is missing. No thread waits for that. */
    private ReleaseOutcome keep(Hold hold, Duration early) {
        hold.extending.lock();
        try {
            Extension rest = new Extension(hold.lockId(), Duration.ofMillis(early.toMillis() + 1));
            ExtendOutcome outcome = backend.extend(List.of(rest)).get(0);
            return outcome instanceof ExtendOutcome.NotHeld ? ReleaseOutcome.NOT_HELD : ReleaseOutcome.RELEASED;
        } finally {
            hold.extending.unlock();
        }
    }

    private boolean accept(Hold hold, ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.NOT_HELD) {
            hold.loseAtRelease("the server did not know it any more when it was released");
            return false;
        }
        if (outcome == ReleaseOutcome.BUSY) {
            releaseLate(hold.lockId(), hold.key(), hold.ttl(), false);
        }
        hold.endRelease();
        events.of(hold, LockListener::released);
        return true;
    }

    private long sendLate() {
        long next = Time.NEVER;
        long now = time.nanoTime();
        for (Iterator<Map.Entry<String, Late>> entries = late.entrySet().iterator(); entries.hasNext(); ) {
            Map.Entry<String, Late> entry = entries.next();
            Late release = entry.getValue();
            if (now >= release.nextAt && sendLate(entry.getKey(), release)) {
                entries.remove();
            } else {
                next = Math.min(next, release.nextAt);
            }
        }
        return next;
    }

    /** Returns whether it is done with. */
    private boolean sendLate(String lockId, Late release) {
        try {
            ReleaseOutcome outcome = backend.release(lockId);
            if (outcome == ReleaseOutcome.RELEASED
                    || outcome == ReleaseOutcome.NOT_HELD && !release.mayStillBeGranted) {
                return true;
            }
        } catch (LockBackendException ex) {
            log.debug("Lock '" + release.key + "' could still not be released", ex);
        }
        long now = time.nanoTime();
        release.nextAt = now + release.pause;
        release.pause = Math.min(2 * release.pause, LONGEST_PAUSE_NANOS);
        return now >= release.givesUpAt;
    }

    /** A release that is still to get through. Its times are read and written by the background thread. */
    private static final class Late {

        private final String key;
        private final long givesUpAt;
        private final boolean mayStillBeGranted;
        private long pause;
        private long nextAt;

        Late(String key, long givesUpAt, boolean mayStillBeGranted, long pause, long nextAt) {
            this.key = key;
            this.givesUpAt = givesUpAt;
            this.mayStillBeGranted = mayStillBeGranted;
            this.pause = pause;
            this.nextAt = nextAt;
        }
    }
}
