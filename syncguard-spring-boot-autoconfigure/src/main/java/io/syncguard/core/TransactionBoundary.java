package io.syncguard.core;

/**
 * Lets the engine see the caller's transaction: a lock that is given back inside one is released when that has ended,
 * because the next holder would not see what it wrote before.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (beforeCommit, afterCompletion) -> false;

    /**
     * Has the actions run on this thread at the end of its transaction.
     *
     * @param beforeCommit runs before a commit; what it throws rolls the transaction back
     * @param afterCompletion runs when the transaction has ended, however it ended
     * @return {@code false} when the running thread is in no transaction; nothing runs then
     */
    boolean atEnd(Runnable beforeCommit, Runnable afterCompletion);
}
