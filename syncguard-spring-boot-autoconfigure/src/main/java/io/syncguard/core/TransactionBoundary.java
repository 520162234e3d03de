package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockRequest;

/**
 * Shows the caller's transactions to the engine. A transaction that worked under a lock commits only while the lock is
 * held, and the lock is released after its end: before, the next holder would not see what the transaction wrote.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (lease, afterCompletion) -> false;

    /**
     * Binds the running thread's transaction to a lease, for the rest of the transaction. A second call for the same
     * lease can only make the guard stricter.
     *
     * @param lease has to be held when the transaction commits, unless its guard is off
     * @param afterCompletion runs once when the transaction has ended, however it ended, on whatever thread ends it; not
     *     before this method has returned
     * @return whether this call has bound them; {@code false} if there is no transaction, or they were bound before: then
     *     the action does not run
     */
    boolean bind(GuardedLease lease, Runnable afterCompletion);

    /**
     * Called before a request is sent.
     *
     * @throws LockException with {@code INVALID_ARGUMENT} if the request requires a guard, and the running thread's
     *     transaction cannot be guarded
     */
    default void requireGuard(LockRequest request) {}

    /** The guard for requests that name none. */
    default CommitGuard defaultGuard() {
        return CommitGuard.AUTO;
    }
}
