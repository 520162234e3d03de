package io.syncguard;

import java.util.Locale;

/**
 * The number of a grant. It grows with each grant of a key and is never used again, so that a store which remembers the
 * largest one it has seen can refuse the late write of a holder that lost its lock.
 *
 * <p>Only fences of the same key can be compared.
 *
 * @param value from 1 to {@value #MAX_VALUE}
 */
public record Fence(long value) implements Comparable<Fence> {

    /** The largest fence, 900 000 000 000 000: it fits 15 digits, and a double holds it exactly. */
    public static final long MAX_VALUE = 900_000_000_000_000L;

    public Fence {
        if (value < 1 || value > MAX_VALUE) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT, "A fence is between 1 and " + MAX_VALUE + ", not " + value);
        }
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
