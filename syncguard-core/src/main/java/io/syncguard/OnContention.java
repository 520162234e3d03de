package io.syncguard;

/**
 * What an annotated method does if others held the key until the end of the wait time.
 */
public enum OnContention {

    /** Throws {@link LockNotAcquiredException}. */
    THROW,

    /**
     * Leaves the body out and returns nothing: {@code null}, an empty {@code Optional}, collection, map or array, zero
     * or {@code false} for a primitive, and a completed future of these for a future.
     */
    SKIP
}
