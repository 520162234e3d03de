package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockRequest;

/**
 * Shows the caller's transactions to the engine. There is one at most, unless several transaction managers each have
 * one open. A transaction that worked under a lock commits only while the lock is held. The lock is released after the
 * end of the transaction, so that the next holder sees what it wrote.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (lease, afterCompletion) -> 0;

    /**
     * Binds the transactions in which the running thread can write to a lease, for the rest of each. A second call for
     * the same lease can only make the guard stricter.
     *
     * @param lease has to be held when the transaction commits, unless its guard is off
     * @param afterCompletion runs once for each that this call binds, when that has ended, however it ended, on
     *     whatever thread ends it; not before this method has returned
     * @return how many this call has bound: none if there is no transaction, or they were bound before
     */
    int bind(GuardedLease lease, Runnable afterCompletion);

    /**
     * Called before a request is sent.
     *
     * @throws LockException with {@code INVALID_ARGUMENT} if the request requires a guard, and the running thread's
     *     transaction cannot be guarded
     */
    default void requireGuard(LockRequest request) {}

    /** Called on the thread of a body that begins, unless it joins another one's lock. */
    default void bodyBegins(String key) {}

    /** The guard for requests that name none. */
    default CommitGuard defaultGuard() {
        return CommitGuard.AUTO;
    }
}
