package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/**
 * The number of a grant. It grows with each grant of a key and is not used again while the store keeps its data, so
 * that a store which remembers the largest one it has seen can refuse the late write of a holder that lost its lock.
 *
 * <p>Only fences of the same key can be compared.
 *
 * @param value from 1 to {@value #MAX_VALUE}
 */
public record Fence(long value) implements Comparable<Fence> {

    /** The largest fence, 900 000 000 000 000: it fits 15 digits, and a double holds it exactly. */
    public static final long MAX_VALUE = 900_000_000_000_000L;

    private static final long FENCES_PER_MILLISECOND = 100;

    private static final long CLOCK_TOLERANCE_MILLIS = Duration.ofDays(1).toMillis();

    /** @throws LockException with the code {@code INVALID_ARGUMENT} if the value is out of these limits */
    public Fence {
        if (value < 1 || value > MAX_VALUE) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT, "A fence is between 1 and " + MAX_VALUE + ", not " + value);
        }
    }

    /**
     * Whether a store can have granted this fence by this time. Fences by the clock are the largest: a hundred for each
     * millisecond since 1970. Clocks may differ by a day.
     *
     * <p>It keeps a nonsensical fence from blocking a resource for ever. It does not show that a fence is genuine: a
     * sender that is not trusted can send the largest that is possible.
     */
    public boolean isPossibleAt(Instant time) {
        return value <= (time.toEpochMilli() + CLOCK_TOLERANCE_MILLIS) * FENCES_PER_MILLISECOND;
    }

    @Override
    public int compareTo(Fence other) {
        return Long.compare(value, other.value);
    }

    /** Fifteen digits, padded with zeros, so that fences sort as text, too. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%015d", value);
    }
}
