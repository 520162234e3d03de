package io.syncguard.core;

/**
 * Lets the engine see the caller's transaction: a lock that is acquired or given back inside one is not released before
 * that has ended, because the next holder would not see what it wrote before.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (beforeCommit, afterCompletion) -> false;

    /**
     * Has the actions run at the end of the running thread's transaction, and not before this method has returned.
     *
     * @param beforeCommit runs before a commit, once or several times; what it throws rolls the transaction back
     * @param afterCompletion runs once when the transaction has ended, however it ended, on whatever thread ends it
     * @return {@code false} when the running thread is in no transaction; nothing runs then
     */
    boolean atEnd(Runnable beforeCommit, Runnable afterCompletion);
}
