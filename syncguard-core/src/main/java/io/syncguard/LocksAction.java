package io.syncguard;

/**
 * A body that runs under several locks and returns nothing: see {@link LockAction}.
 *
 * @param <E> the checked exception that it may throw; {@code RuntimeException} if it throws none
 */
@FunctionalInterface
public interface LocksAction<E extends Exception> {

    /**
     * Runs under the given locks.
     *
     * @throws E what the body throws; it reaches the caller of the template unwrapped
     */
    void doWithLocks(LockHandles locks) throws E;
}
