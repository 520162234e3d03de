package io.syncguard.core;

/** What a request to a store is for. */
public enum StoreOperation {

    /** To grant locks, or to queue their callers. */
    ACQUIRE,

    /** To extend leases. */
    EXTEND,

    /** To release leases. */
    RELEASE,

    /** To renew the queue entries of waiters: the safety poll. */
    RENEW,

    /** To look at locks, and to release them by force. */
    LOOK
}
