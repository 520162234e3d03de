package io.syncguard;

/**
 * Which keys a {@linkplain LockManager#list list} has: a page of those that are locked or waited for, in the order of
 * their bytes in UTF-8. Immutable; each method returns a changed copy.
 *
 * @param prefix with what the keys begin, with the limits of a key; empty for all keys
 * @param after the last key of the page before; empty for the first page
 * @param limit how many keys at most, from 1 to {@value #MAX_LIMIT}
 */
public record LockQuery(String prefix, String after, int limit) {

    /** The largest page. */
    public static final int MAX_LIMIT = 1000;

    private static final LockQuery ALL = new LockQuery("", "", 100);

    public LockQuery {
        prefix = LockLimits.textOrEmpty("prefix of a list", prefix);
        after = LockLimits.textOrEmpty("key before a page", after);
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The limit of a list is " + limit + ". Use a number from 1 to " + MAX_LIMIT);
        }
    }

    /** The first hundred keys. */
    public static LockQuery all() {
        return ALL;
    }

    public LockQuery startingWith(String prefix) {
        return new LockQuery(prefix, after, limit);
    }

    /** @param key the {@linkplain LockPage#next last key} of the page before */
    public LockQuery after(String key) {
        return new LockQuery(prefix, key, limit);
    }

    public LockQuery limit(int limit) {
        return new LockQuery(prefix, after, limit);
    }
}
