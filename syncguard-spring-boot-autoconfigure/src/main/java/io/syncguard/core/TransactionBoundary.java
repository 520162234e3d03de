package io.syncguard.core;

/**
 * Lets the engine see the caller's transaction: a lock that is given back inside one is released when that has ended,
 * because the next holder would not see what it wrote before.
 */
@FunctionalInterface
public interface TransactionBoundary {

    /** There are no transactions. */
    TransactionBoundary NONE = action -> false;

    /**
     * Has the action run on this thread when its transaction has ended, however it ends.
     *
     * @return {@code false} when the running thread is in no transaction; the action does not run then
     */
    boolean afterCompletion(Runnable action);
}
