package io.syncguard;

/**
 * A body that runs under a lock and returns nothing.
 *
 * @param <E> the checked exception that it may throw; {@code RuntimeException} if it throws none
 */
@FunctionalInterface
public interface LockAction<E extends Exception> {

    /**
     * Runs under the given lock.
     *
     * @throws E what the body throws; it reaches the caller of the template unwrapped
     */
    void doWithLock(LockHandle lock) throws E;
}
