package io.syncguard.core;

import java.time.Duration;
import java.time.Instant;

/**
 * The last confirmation of a lease by the server.
 *
 * @param sentAt the time before the request was sent, on the local monotonic clock in nanoseconds
 * @param length how long the lease lives from then on, at least
 * @param ttl the ttl of its next extension
 * @param expiresAt its expiry on the server's clock
 */
record Confirmation(long sentAt, Duration length, Duration ttl, Instant expiresAt) {

    static Confirmation of(long sentAt, Duration ttl, Instant expiresAt) {
        return new Confirmation(sentAt, ttl, ttl, expiresAt);
    }

    /** The time until which the holder may act. */
    long deadline() {
        return sentAt + length.toNanos();
    }

    /** A lease that a release handed over is shorter than its ttl until its first extension. */
    boolean isHandedOver() {
        return length.compareTo(ttl) < 0;
    }

    Confirmation until(Instant end) {
        return new Confirmation(sentAt, length, ttl, end);
    }

    Confirmation atMost(Duration longest) {
        return length.compareTo(longest) <= 0 ? this : new Confirmation(sentAt, longest, ttl, expiresAt);
    }
}
