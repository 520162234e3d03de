package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import java.time.Duration;

/** How long a lease has been held, and how long it is to be held at least and at most. Thread-safe. */
final class HoldTime {

    private final Time time;
    private final GrantedLease grant;
    private final long grantedAt;

    /** Written under the monitor. Read by all. It never decreases. */
    private volatile Duration atLeast;

    /** Begins with the grant. */
    HoldTime(Time time, GrantedLease grant) {
        this.time = time;
        this.grant = grant;
        this.grantedAt = time.nanoTime();
        this.atLeast = grant.request().holdAtLeast();
    }

    long grantedAt() {
        return grantedAt;
    }

    /** The time since the grant. */
    Duration passed() {
        return since(grantedAt);
    }

    /** How long the key stays taken after the grant, in whole milliseconds and never shorter than requested. */
    Duration atLeast() {
        return Duration.ofMillis(atLeast.plusNanos(999_999).toMillis());
    }

    /** Whether {@code holdAtLeast} is not over. */
    boolean isEarly() {
        return !atLeast.isZero() && passed().compareTo(atLeast) < 0;
    }

    /**
     * A nested request joins: its {@code holdAtLeast} counts from now on, if it ends later. The server counts from the
     * grant. The time passed is measured from the send time, which precedes the grant, so it errs on the long side.
     */
    synchronized void join(LockRequest nested) {
        Duration sinceGrant = since(grant.confirmation().sentAt()).plus(nested.holdAtLeast());
        if (!nested.holdAtLeast().isZero() && sinceGrant.compareTo(atLeast) > 0) {
            atLeast = sinceGrant;
        }
    }

    /** When {@code holdAtMost} is over. */
    long limit() {
        Duration atMost = grant.request().holdAtMost();
        return atMost == null ? Time.NEVER : grantedAt + atMost.toNanos();
    }

    private Duration since(long then) {
        return Duration.ofNanos(time.nanoTime() - then);
    }
}
