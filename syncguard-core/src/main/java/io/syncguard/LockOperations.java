package io.syncguard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LockTemplate} does, as an interface: code that depends on it can be tested {@linkplain #withoutLocks
 * without locks}. Implementations are thread-safe.
 *
 * <pre>{@code
 * Orders orders = new Orders(LockOperations.withoutLocks());
 * }</pre>
 */
public interface LockOperations {

    /**
     * Waits for the lock as long as the request says and runs the body under it.
     *
     * @throws LockNotAcquiredException when the wait time is over
     * @throws LockLostException when the lock was lost while the body ran
     * @throws E what the body throws
     */
    <T extends @Nullable Object, E extends Exception> T execute(LockRequest request, LockCallback<T, E> body) throws E;

    /** Like {@link #execute(LockRequest, LockCallback)} for a key, with all defaults. */
    default <T extends @Nullable Object, E extends Exception> T execute(String key, LockCallback<T, E> body) throws E {
        return execute(LockRequest.of(key), body);
    }

    /** Like {@link #execute(LockRequest, LockCallback)} for a body without a result. */
    default <E extends Exception> void executeWithoutResult(LockRequest request, LockAction<E> body) throws E {
        LockLimits.requireNonNull("body", body);
        this.<LockHandle, E>execute(request, lock -> {
            body.doWithLock(lock);
            return lock;
        });
    }

    /** Like {@link #executeWithoutResult(LockRequest, LockAction)} for a key, with all defaults. */
    default <E extends Exception> void executeWithoutResult(String key, LockAction<E> body) throws E {
        executeWithoutResult(LockRequest.of(key), body);
    }

    /**
     * Makes exactly one attempt, whatever the wait time of the request, and runs the body if it is granted. It is not
     * granted when others hold the key or wait for it.
     *
     * @throws LockLostException when the lock was lost while the body ran
     * @throws E what the body throws
     */
    <T extends @Nullable Object, E extends Exception> TryResult<T> tryExecute(
            LockRequest request, LockCallback<T, E> body) throws E;

    /** Like {@link #tryExecute(LockRequest, LockCallback)} for a key, with all defaults. */
    default <T extends @Nullable Object, E extends Exception> TryResult<T> tryExecute(
            String key, LockCallback<T, E> body) throws E {
        return tryExecute(LockRequest.of(key), body);
    }

    /**
     * Like {@link #tryExecute(LockRequest, LockCallback)} for a body without a result.
     *
     * @return whether the body ran
     */
    default <E extends Exception> boolean tryExecuteWithoutResult(LockRequest request, LockAction<E> body) throws E {
        LockLimits.requireNonNull("body", body);
        return this.<LockHandle, E>tryExecute(request, lock -> {
                    body.doWithLock(lock);
                    return lock;
                })
                .acquired();
    }

    /** Like {@link #tryExecuteWithoutResult(LockRequest, LockAction)} for a key, with all defaults. */
    default <E extends Exception> boolean tryExecuteWithoutResult(String key, LockAction<E> body) throws E {
        return tryExecuteWithoutResult(LockRequest.of(key), body);
    }

    /**
     * Waits for all locks as long as the shortest wait time of the requests, and runs the body under all of them. See
     * {@link LockManager#acquire(List)}.
     *
     * @throws LockNotAcquiredException when the wait time is over
     * @throws LockLostException when a lock was lost
     * @throws E what the body throws
     */
    <T extends @Nullable Object, E extends Exception> T execute(List<LockRequest> requests, LocksCallback<T, E> body)
            throws E;

    /** Like {@link #execute(List, LocksCallback)} for a body without a result. */
    default <E extends Exception> void executeWithoutResult(List<LockRequest> requests, LocksAction<E> body) throws E {
        LockLimits.requireNonNull("body", body);
        this.<LockHandles, E>execute(requests, locks -> {
            body.doWithLocks(locks);
            return locks;
        });
    }

    /**
     * Makes exactly one attempt for all locks, and runs the body if all are granted.
     *
     * @throws LockLostException when a lock was lost while the body ran
     * @throws E what the body throws
     */
    <T extends @Nullable Object, E extends Exception> TryResult<T> tryExecute(
            List<LockRequest> requests, LocksCallback<T, E> body) throws E;

    /**
     * Like {@link #tryExecute(List, LocksCallback)} for a body without a result.
     *
     * @return whether the body ran
     */
    default <E extends Exception> boolean tryExecuteWithoutResult(List<LockRequest> requests, LocksAction<E> body)
            throws E {
        LockLimits.requireNonNull("body", body);
        return this.<LockHandles, E>tryExecute(requests, locks -> {
                    body.doWithLocks(locks);
                    return locks;
                })
                .acquired();
    }

    /**
     * Runs each body at once and without a lock, for unit tests: there is no server, and bodies of one key may run at
     * the same time. The handle of a body is held until it is released, and its fence grows with each call.
     */
    static LockOperations withoutLocks() {
        return new LockTemplate(LockManager.withoutLocks());
    }
}
