package io.syncguard.concurrent;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The pauses between failed attempts: each is twice as long as the one before, up to a maximum. The caller counts its
 * failed attempts. Immutable and thread-safe.
 */
public final class Backoff {

    private final long firstNanos;
    private final long longestNanos;
    private final boolean jitter;

    private Backoff(long firstNanos, long longestNanos, boolean jitter) {
        this.firstNanos = firstNanos;
        this.longestNanos = longestNanos;
        this.jitter = jitter;
    }

    /** @throws IllegalArgumentException unless the first pause is positive and no longer than the longest */
    public static Backoff doubling(Duration first, Duration longest) {
        if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "The pauses have to be positive and to grow, not from " + first + " to " + longest);
        }
        return new Backoff(first.toNanos(), longest.toNanos(), false);
    }

    /** Makes the upper half of each pause random, so that callers that failed together do not try again together. */
    public Backoff withJitter() {
        return new Backoff(firstNanos, longestNanos, true);
    }

    /**
     * The pause before the next attempt.
     *
     * @param failures how many attempts failed in succession; there is no pause after none
     */
    public long pauseNanos(int failures) {
        if (failures == 0) {
            return 0;
        }
        // A shift by 64 would be one by 0.
        int doublings = Math.min(failures - 1, Long.SIZE - 2);
        long pause = firstNanos > longestNanos >> doublings ? longestNanos : firstNanos << doublings;
        return jitter ? pause / 2 + ThreadLocalRandom.current().nextLong(pause - pause / 2 + 1) : pause;
    }
}
