package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockRequest;

/**
 * Shows the caller's transactions to the engine. A lock that is acquired or released inside a transaction is released
 * after its end: before, the next holder would not see what the transaction wrote.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (lease, afterCompletion) -> false;

    /**
     * Registers a lease and an action for the end of the running thread's transaction. The action does not run before
     * this method has returned.
     *
     * @param lease has to be held when the transaction commits, if its release is deferred then
     * @param afterCompletion runs once when the transaction has ended, however it ended, on whatever thread ends it
     * @return {@code false} when the running thread is in no transaction; then the action does not run
     */
    boolean atEnd(GuardedLease lease, Runnable afterCompletion);

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
