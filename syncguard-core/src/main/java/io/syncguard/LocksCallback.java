package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * A body that runs under several locks and returns something: see {@link LockCallback}.
 *
 * @param <T> what it returns
 * @param <E> the checked exception that it may throw; {@code RuntimeException} if it throws none
 */
@FunctionalInterface
public interface LocksCallback<T extends @Nullable Object, E extends Exception> {

    /**
     * Runs under the given locks.
     *
     * @throws E what the body throws; it reaches the caller of the template unwrapped
     */
    T doWithLocks(LockHandles locks) throws E;
}
