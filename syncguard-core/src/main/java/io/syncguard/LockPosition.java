package io.syncguard;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Where a key stands in a list of some order: by a time, and by the key among those with the same time. Immutable.
 *
 * @param order the order of the list
 * @param millis the time in milliseconds since 1970, of the server's clock; {@link #NONE} for a key that has no such
 *     time, and 0 in the order of the keys
 * @param key empty for the position before all keys
 */
public record LockPosition(LockOrder order, long millis, String key) implements Comparable<LockPosition> {

    /** The time of a key that has none: behind all others. */
    public static final long NONE = Long.MAX_VALUE;

    private static final Comparator<LockPosition> IN_ORDER = Comparator.comparingLong(LockPosition::millis)
            .thenComparing(position -> position.key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** The position of this lock, whose queue is in the order of arrival. */
    public static LockPosition of(LockOrder order, LockStatus lock) {
        List<Instant> times = switch (order) {
            case KEY -> List.of(Instant.EPOCH);
            case LONGEST_HELD ->
                lock.holders().stream().map(LockInfo::acquiredAt).toList();
            case LONGEST_WAIT ->
                lock.queue().stream().limit(1).map(LockStatus.Waiter::since).toList();
            case ENDS_FIRST -> lock.holders().stream().map(LockInfo::expiresAt).toList();
        };
        return new LockPosition(
                order, times.stream().mapToLong(Instant::toEpochMilli).min().orElse(NONE), lock.key());
    }

    /** Reads the text of a position. */
    static LockPosition of(LockOrder order, String text) {
        if (order == LockOrder.KEY) {
            return new LockPosition(order, 0, LockLimits.textOrEmpty("key before a page", text));
        }
        if (text.isEmpty()) {
            return new LockPosition(order, Long.MIN_VALUE, "");
        }
        int colon = text.indexOf(':');
        try {
            return new LockPosition(
                    order,
                    Long.parseLong(text.substring(0, Math.max(0, colon))),
                    LockLimits.key(text.substring(colon + 1)));
        } catch (NumberFormatException ex) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "A list in the order " + order + " continues after the 'next' of the page before it");
        }
    }

    @Override
    public int compareTo(LockPosition other) {
        return IN_ORDER.compare(this, other);
    }

    /** The text that {@link LockQuery#after} takes. */
    @Override
    public String toString() {
        return order == LockOrder.KEY || key.isEmpty() ? key : millis + ":" + key;
    }
}
