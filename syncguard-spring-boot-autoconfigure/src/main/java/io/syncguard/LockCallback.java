package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * A body that runs under a lock and returns something.
 *
 * @param <T> what it returns
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object> {

    /**
     * Runs under the given lock.
     *
     * @throws Exception whatever the body throws; it reaches the caller of the template unwrapped
     */
    T doWithLock(LockHandle lock) throws Exception;
}
