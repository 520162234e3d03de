package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * A body that runs under a lock and returns something.
 *
 * @param <T> what it returns
 * @param <E> the checked exception that it may throw; {@code RuntimeException} if it throws none
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, E extends Exception> {

    /**
     * Runs under the given lock.
     *
     * @throws E what the body throws; it reaches the caller of the template unwrapped
     */
    T doWithLock(LockHandle lock) throws E;
}
