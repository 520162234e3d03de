package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import java.time.Duration;

/**
 * When the heartbeat extends a lease next. It knows neither server nor clock. Thread-safe.
 *
 * <p>A lease is due a third of its length after the last confirmed request was sent, so that two more tries fit in
 * before its end; earlier if its request asks for that.
 */
final class RenewalSchedule {

    /**
     * A lease is extended along with others when at most a quarter of its interval remains. A failed extension is
     * repeated after the same time.
     */
    private static final int SLACK_DIVISOR = 4;

    /**
     * When a lease that a release handed over is due first: 250 ms after the grant arrived. Until then it is shorter
     * than its ttl. A body that ends before costs no extension.
     */
    private static final long FIRST_EXTENSION_NANOS = Duration.ofMillis(250).toNanos();

    /** The pause before a lease whose row an application transaction locks is tried again, 10 ms. */
    private static final long BUSY_NANOS = Duration.ofMillis(10).toNanos();

    /** All guarded by this. */
    private boolean on;

    private long longestInterval;
    private long sentAt;
    private long length;
    private long dueAt;

    /** From when on it is extended along with others. */
    private long dueFrom;

    /** @param now when the grant arrived */
    RenewalSchedule(LockRequest request, Confirmation granted, long now) {
        this.on = request.heartbeat();
        this.longestInterval = intervalOf(request);
        confirmed(granted);
        if (granted.isHandedOver()) {
            dueBy(now + FIRST_EXTENSION_NANOS);
        }
    }

    synchronized boolean isOn() {
        return on;
    }

    synchronized long dueAt() {
        return dueAt;
    }

    /** Whether the heartbeat extends it now, alone or along with others. */
    synchronized boolean isDue(long now) {
        return on && dueFrom <= now;
    }

    /** Whether its extension should have been confirmed by now. */
    synchronized boolean isOverdue(long now) {
        return on && sentAt + interval() + slack() < now;
    }

    /** For a nested request. The shorter of two intervals counts. */
    synchronized void switchOn(LockRequest nested) {
        longestInterval = Math.min(longestInterval, intervalOf(nested));
        dueBy(sentAt + interval());
        on = true;
    }

    /** An extension was confirmed. */
    synchronized void confirmed(Confirmation confirmation) {
        sentAt = confirmation.sentAt();
        length = confirmation.length().toNanos();
        dueAt = Time.NEVER;
        dueBy(sentAt + interval());
    }

    /** The extension failed, or the holder's own extension is open. */
    synchronized void postpone(long now) {
        dueNotBefore(now + slack());
    }

    /** An application transaction locks the row. */
    synchronized void busy(long now) {
        dueNotBefore(now + Math.min(BUSY_NANOS, interval()));
    }

    private void dueBy(long latest) {
        dueAt = Math.min(dueAt, latest);
        dueFrom = dueAt - slack();
    }

    /** Others that are extended before that do not take it along: a failed request would be repeated at once. */
    private void dueNotBefore(long nanoTime) {
        dueAt = nanoTime;
        dueFrom = nanoTime;
    }

    private long interval() {
        return Math.max(1, Math.min(longestInterval, length / 3));
    }

    private long slack() {
        return interval() / SLACK_DIVISOR;
    }

    private static long intervalOf(LockRequest request) {
        return request.heartbeatInterval() == null
                ? Long.MAX_VALUE
                : request.heartbeatInterval().toNanos();
    }
}
