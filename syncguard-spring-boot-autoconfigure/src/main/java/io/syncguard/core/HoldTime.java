package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import java.time.Duration;

/** How long a lease has been held, and how long it is to be held at least and at most. Threads may share it. */
final class HoldTime {

    private final Time time;
    private final LockRequest request;
    private final long grantedAt;

    /** Begins with the grant. */
    HoldTime(Time time, LockRequest request) {
        this.time = time;
        this.request = request;
        this.grantedAt = time.nanoTime();
    }

    long grantedAt() {
        return grantedAt;
    }

    /** The time since the grant. */
    Duration passed() {
        return Duration.ofNanos(time.nanoTime() - grantedAt);
    }

    /** How long the key stays taken after the grant, in whole milliseconds and never shorter than requested. */
    Duration atLeast() {
        return Duration.ofMillis(request.holdAtLeast().plusNanos(999_999).toMillis());
    }

    /** Whether {@code holdAtLeast} is not over. */
    boolean isEarly() {
        return passed().compareTo(request.holdAtLeast()) < 0;
    }

    /** When {@code holdAtMost} is over. */
    long limit() {
        return request.holdAtMost() == null
                ? Time.NEVER
                : grantedAt + request.holdAtMost().toNanos();
    }
}
