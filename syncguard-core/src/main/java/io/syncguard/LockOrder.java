package io.syncguard;

/**
 * The order of the keys in a {@linkplain LockAdmin#list list}. Keys for which it makes no difference follow each other
 * in the order of their bytes in UTF-8.
 */
public enum LockOrder {

    /** By the key. The only order in which a store need not look at all locks. */
    KEY,

    /** The oldest lease first. Keys without a lease come last. */
    LONGEST_HELD,

    /** The waiter that arrived first is first. Keys without a queue come last. */
    LONGEST_WAIT,

    /** The lease that expires first is first, unless it is extended. Keys without a lease come last. */
    ENDS_FIRST
}
