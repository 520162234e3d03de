package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a holder believes of its lease: until when it lives, and so when it is to be extended next.
 *
 * <p>It believes in the lease until one ttl after the moment <em>before the last confirmed request was sent</em>, on the
 * local monotonic clock. The server's lease ends later than that, by the time that the request travelled, and is kept from
 * others for {@link LockBackend#TOLERANCE_MILLIS} more.
 */
final class Belief {

    /** A lease is extended along with others when no more than a quarter of its interval is missing; a failed one rests as long. */
    private static final int SLACK_DIVISOR = 4;

    /**
     * When a lease that a release handed over is extended first: 250 ms after the grant was heard. It is shorter than its ttl. A body
     * that is over by then costs no extension.
     */
    private static final long FIRST_EXTENSION_NANOS = Duration.ofMillis(250).toNanos();

    /**
     * What the server confirmed last.
     *
     * @param sentAt the time before the request was sent
     * @param length how long the lease lives from then on, at least
     * @param ttl how long it is to live when it is extended next
     */
    record Lease(long sentAt, Duration length, Duration ttl, Instant expiresAt) {

        Lease(long sentAt, Duration ttl, Instant expiresAt) {
            this(sentAt, ttl, ttl, expiresAt);
        }

        long deadline() {
            return sentAt + length.toNanos();
        }

        Lease atMost(Duration longest) {
            return length.compareTo(longest) <= 0 ? this : new Lease(sentAt, longest, ttl, expiresAt);
        }
    }

    /** Held while a request to extend this lease is under way, so that answers cannot overtake each other. */
    final ReentrantLock extending = new ReentrantLock();

    /** Written by whoever holds {@link #extending}, read by all. */
    private volatile Lease lease;

    /**
     * No lease is believed in for longer: the shortest ttl of the extensions whose outcome is unknown. One of them may still reach
     * the server after any later one, and have the lease end that long from then on. Guarded by {@link #extending}.
     */
    private Duration believedAtMost = LockLimits.MAX_DURATION;

    /**
     * When the heartbeat wants to extend next. Written by whoever holds {@link #extending}, and by the heartbeat when another
     * thread has that; read by the heartbeat.
     */
    private volatile long renewAt;

    /** Switched on by a nested request; read by the heartbeat. */
    private volatile boolean heartbeat;

    /** The longest time between two heartbeats. Made shorter by a nested request; read by all who extend. */
    private volatile long longestInterval;

    /** @param now when the grant arrived */
    Belief(LockRequest request, Lease granted, long now) {
        this.lease = granted;
        this.heartbeat = request.heartbeat();
        this.longestInterval = intervalOf(request);
        boolean handedOver = granted.length().compareTo(granted.ttl()) < 0;
        long next = granted.sentAt() + interval();
        this.renewAt = handedOver ? Math.min(next, now + FIRST_EXTENSION_NANOS) : next;
    }

    long deadline() {
        return lease.deadline();
    }

    Duration ttl() {
        return lease.ttl();
    }

    Instant expiresAt() {
        return lease.expiresAt();
    }

    boolean hasHeartbeat() {
        return heartbeat;
    }

    /** For a nested request. The shorter of two intervals counts, also where two threads join at once. */
    synchronized void switchHeartbeatOn(LockRequest nested) {
        longestInterval = Math.min(longestInterval, intervalOf(nested));
        renewAt = Math.min(renewAt, lease.sentAt() + interval());
        heartbeat = true;
    }

    long renewAt() {
        return renewAt;
    }

    /** Whether the heartbeat is to extend it now, or takes it along. */
    boolean isDue(long now) {
        return heartbeat && renewAt <= now + rest();
    }

    /** The heartbeat leaves it alone for a while: it could not extend it, or the holder is just asking for itself. */
    void restFrom(long now) {
        renewAt = now + rest();
    }

    /** Somebody has pinned it. It is tried again after the pause. */
    void busyAt(long now, long pause) {
        renewAt = now + Math.min(pause, interval());
    }

    /**
     * Believes in no more than a request leaves that is about to be sent: one that shortens the lease may take effect, and
     * its answer be lost. The caller holds {@link #extending}.
     *
     * @return what was believed before, to be {@link #restore restored} if the server leaves it
     */
    Lease expectAtMost(long sentAt, Duration ttl) {
        Lease before = lease;
        Lease asked = new Lease(sentAt, ttl, before.expiresAt());
        if (asked.deadline() < before.deadline()) {
            lease = asked;
            renewAt = sentAt + interval();
        }
        return before;
    }

    /** The server did nothing. The caller holds {@link #extending}. */
    void restore(Lease before) {
        lease = before;
    }

    /** The caller holds {@link #extending}. */
    void extensionFailed(Duration ttl, LockBackendException error) {
        if (UnknownOutcome.is(error) && ttl.compareTo(believedAtMost) < 0) {
            believedAtMost = ttl;
        }
    }

    /** Takes over what the server confirmed. The caller holds {@link #extending}. */
    void extended(Lease confirmed) {
        lease = confirmed.atMost(believedAtMost);
        renewAt = confirmed.sentAt() + interval();
    }

    /** A third of what the lease lives, so that two more tries fit in before it is over; less if that was asked for. */
    private long interval() {
        return Math.max(1, Math.min(longestInterval, lease.length().toNanos() / 3));
    }

    private long rest() {
        return interval() / SLACK_DIVISOR;
    }

    private static long intervalOf(LockRequest request) {
        return request.heartbeatInterval() == null
                ? Long.MAX_VALUE
                : request.heartbeatInterval().toNanos();
    }
}
