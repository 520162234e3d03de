package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * Which keys a {@linkplain LockAdmin#list list} has: a page of those that are locked or waited for. Each condition
 * narrows the list. Texts are compared as they are, with their case; no character is a wildcard. Immutable; each method
 * returns a changed copy.
 *
 * <p>An impossible value fails at once, with a {@link LockException} and {@link LockErrorCode#INVALID_ARGUMENT}. A text
 * has at most {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes; an empty one lifts its condition.
 */
public final class LockQuery {

    /** The largest page. */
    public static final int MAX_LIMIT = 1000;

    private static final LockQuery ALL = new LockQuery(new Values("", "", "", false, LockOrder.KEY, "", 100));

    private final Values values;

    private LockQuery(Values values) {
        this.values = values;
    }

    /** The first hundred keys. */
    public static LockQuery all() {
        return ALL;
    }

    /** @param prefix is the beginning of the key */
    public LockQuery startingWith(String prefix) {
        return new LockQuery(new Values(prefix, part(), owner(), isWaitedFor(), order(), after(), limit()));
    }

    /** @param part is anywhere in the key */
    public LockQuery containing(String part) {
        return new LockQuery(new Values(prefix(), part, owner(), isWaitedFor(), order(), after(), limit()));
    }

    /** @param part is anywhere in the label of a holder or of a waiter of the key, such as the name of a host */
    public LockQuery owner(String part) {
        return new LockQuery(new Values(prefix(), part(), part, isWaitedFor(), order(), after(), limit()));
    }

    /** Only keys with a queue. */
    public LockQuery waitedFor() {
        return new LockQuery(new Values(prefix(), part(), owner(), true, order(), after(), limit()));
    }

    /** The first page in another order. */
    public LockQuery orderedBy(LockOrder order) {
        return new LockQuery(new Values(prefix(), part(), owner(), isWaitedFor(), order, "", limit()));
    }

    /**
     * The next page in the same order. What changes between two pages may move from one to the other.
     *
     * @param next the {@link LockPage#next} of the page before. In the order of the keys it is a key
     */
    public LockQuery after(String next) {
        return new LockQuery(new Values(prefix(), part(), owner(), isWaitedFor(), order(), next, limit()));
    }

    /** @param limit how many keys at most, from 1 to {@value #MAX_LIMIT}; default 100 */
    public LockQuery limit(int limit) {
        return new LockQuery(new Values(prefix(), part(), owner(), isWaitedFor(), order(), after(), limit));
    }

    /** The prefix of the keys, with the limits of a key; empty for all keys. */
    public String prefix() {
        return values.prefix;
    }

    /** A part of the keys, with the limits of a key; empty for all keys. */
    public String part() {
        return values.part;
    }

    /** A part of the label of a holder or waiter; empty for all. */
    public String owner() {
        return values.owner;
    }

    /** Whether the list has only keys with a queue; default {@code false}. */
    public boolean isWaitedFor() {
        return values.waitedFor;
    }

    /** The order of the list; default {@link LockOrder#KEY}. */
    public LockOrder order() {
        return values.order;
    }

    /** The {@link LockPage#next} of the page before; empty for the first page. */
    public String after() {
        return values.after;
    }

    /** Where the page begins: behind this position. */
    public LockPosition position() {
        return LockPosition.of(order(), after());
    }

    /** How many keys at most, from 1 to {@value #MAX_LIMIT}. */
    public int limit() {
        return values.limit;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockQuery query && values.equals(query.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "LockQuery");
    }

    private record Values(
            String prefix, String part, String owner, boolean waitedFor, LockOrder order, String after, int limit) {

        Values {
            prefix = LockLimits.textOrEmpty("prefix of a list", prefix);
            part = LockLimits.textOrEmpty("part of a key", part);
            owner = LockLimits.textOrEmpty("part of an owner", owner);
            LockLimits.requireNonNull("order of a list", order);
            LockLimits.requireNonNull("key before a page", after);
            after = LockPosition.of(order, after).toString();
            if (limit < 1 || limit > MAX_LIMIT) {
                throw new LockException(
                        LockErrorCode.INVALID_ARGUMENT,
                        "The limit of a list is " + limit + ". Use a number from 1 to " + MAX_LIMIT);
            }
        }
    }
}
