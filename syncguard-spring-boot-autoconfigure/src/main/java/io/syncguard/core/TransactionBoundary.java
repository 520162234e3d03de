package io.syncguard.core;

/**
 * Shows the caller's transaction to the engine. A lock that is acquired or released inside a transaction is released
 * after its end: before, the next holder would not see what the transaction wrote.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = (beforeCommit, afterCompletion) -> false;

    /**
     * Registers actions for the end of the running thread's transaction. They do not run before this method has
     * returned.
     *
     * @param beforeCommit runs before a commit, once or several times; what it throws rolls the transaction back
     * @param afterCompletion runs once when the transaction has ended, however it ended, on whatever thread ends it
     * @return {@code false} when the running thread is in no transaction; then no action runs
     */
    boolean atEnd(Runnable beforeCommit, Runnable afterCompletion);
}
