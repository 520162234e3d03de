package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * Which keys a {@linkplain LockAdmin#list list} has: a page of those that are locked or waited for, in the order of
 * their bytes in UTF-8. Immutable; each method returns a changed copy.
 */
public final class LockQuery {

    /** The largest page. */
    public static final int MAX_LIMIT = 1000;

    private static final LockQuery ALL = new LockQuery(new Values("", "", 100));

    private final Values values;

    private LockQuery(Values values) {
        this.values = values;
    }

    /** The first hundred keys. */
    public static LockQuery all() {
        return ALL;
    }

    public LockQuery startingWith(String prefix) {
        return new LockQuery(new Values(prefix, after(), limit()));
    }

    /** @param key the {@linkplain LockPage#next last key} of the page before */
    public LockQuery after(String key) {
        return new LockQuery(new Values(prefix(), key, limit()));
    }

    public LockQuery limit(int limit) {
        return new LockQuery(new Values(prefix(), after(), limit));
    }

    /** The prefix of the keys, with the limits of a key; empty for all keys. */
    public String prefix() {
        return values.prefix;
    }

    /** The last key of the page before; empty for the first page. */
    public String after() {
        return values.after;
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

    private record Values(String prefix, String after, int limit) {

        Values {
            prefix = LockLimits.textOrEmpty("prefix of a list", prefix);
            after = LockLimits.textOrEmpty("key before a page", after);
            if (limit < 1 || limit > MAX_LIMIT) {
                throw new LockException(
                        LockErrorCode.INVALID_ARGUMENT,
                        "The limit of a list is " + limit + ". Use a number from 1 to " + MAX_LIMIT);
            }
        }
    }
}
