package io.syncguard;

/**
 * A body that runs under a lock and returns nothing.
 */
@FunctionalInterface
public interface LockAction {

    /**
     * Runs under the given lock.
     *
     * @throws Exception whatever the body throws; it reaches the caller of the template unwrapped
     */
    void doWithLock(LockHandle lock) throws Exception;
}
