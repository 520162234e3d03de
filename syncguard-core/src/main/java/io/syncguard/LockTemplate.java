package io.syncguard;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs code under a lock: acquires, runs the body, releases. Thread-safe.
 *
 * <pre>{@code
 * Receipt receipt = locks.execute(LockRequest.of("order", id), lock -> payments.charge(id, lock.fence()));
 * }</pre>
 *
 * <p>The lock ends when the body returns. A body that hands its work to other threads {@link LockHandle#bind binds} it
 * and waits for it, or uses {@link DistributedLock} on a method that returns a future. A body that returns a future
 * that is not done, a stream, a publisher or other work that is still to come is refused at its end, and the future
 * cancelled: see {@link LateResults}.
 *
 * <p>Each method throws what {@link LockManager#acquire} throws before the body runs, what the body throws unwrapped,
 * and {@link LockLostException} when the lock was lost while the body ran. If
 * both happen, the body's exception is thrown, with the other one suppressed; but a body that fails only
 * because the loss interrupted it ({@link InterruptedException}, an exception caused by one, or what I/O throws in its
 * place) has its exception as the cause of the {@code LockLostException}, and the thread's interrupt flag is cleared.
 */
public final class LockTemplate implements LockOperations {

    private final LockManager manager;

    public LockTemplate(LockManager manager) {
        this.manager = manager;
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(LockRequest request, LockCallback<T, E> body)
            throws E {
        LockLimits.requireNonNull("body", body);
        return execute(LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(request)), body);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> TryResult<T> tryExecute(
            LockRequest request, LockCallback<T, E> body) throws E {
        LockLimits.requireNonNull("body", body);
        LockHandle lock = manager.tryAcquire(request);
        return lock == null ? TryResult.notAcquired() : TryResult.of(execute(lock, body));
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(
            List<LockRequest> requests, LocksCallback<T, E> body) throws E {
        LockLimits.requireNonNull("body", body);
        return execute(LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(requests)), body);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> TryResult<T> tryExecute(
            List<LockRequest> requests, LocksCallback<T, E> body) throws E {
        LockLimits.requireNonNull("body", body);
        LockHandles locks = manager.tryAcquire(requests);
        return locks == null ? TryResult.notAcquired() : TryResult.of(execute(locks, body));
    }

    /**
     * Runs the body under a lock that was acquired before, and releases it.
     *
     * @throws LockLostException when the lock was lost before, or while the body ran
     * @throws E what the body throws
     */
    public <T extends @Nullable Object, E extends Exception> T execute(LockHandle lock, LockCallback<T, E> body)
            throws E {
        return execute(lock.bind(() -> body.doWithLock(lock)), lock::close, () -> "lock '" + lock.key() + "'");
    }

    /**
     * Runs the body under locks that were acquired before, and releases them.
     *
     * @throws LockLostException when a lock was lost before, or while the body ran
     * @throws E what the body throws
     */
    public <T extends @Nullable Object, E extends Exception> T execute(LockHandles locks, LocksCallback<T, E> body)
            throws E {
        return execute(
                locks.bind(() -> body.doWithLocks(locks)),
                locks::close,
                () -> "lock '" + locks.all().get(0).key() + "' and others");
    }

    /** The manager on which this template works. */
    public LockManager manager() {
        return manager;
    }

    private static <T extends @Nullable Object> T execute(Callable<T> body, Runnable release, Supplier<String> locks) {
        T result;
        try {
            result = call(body);
            LateResults.refuseIn(result, () -> "The body under " + locks.get());
        } catch (Throwable failure) {
            releaseAfter(failure, release);
            throw failure;
        }
        release.run();
        return result;
    }

    private static void releaseAfter(Throwable failure, Runnable release) {
        try {
            release.run();
        } catch (Throwable ex) {
            LockLostException.suppress(failure, ex);
        }
    }

    private static <T extends @Nullable Object> T call(Callable<T> task) {
        try {
            return task.call();
        } catch (Exception ex) {
            throw unchecked(ex);
        }
    }

    /** Throws a checked exception without a wrapper: only the compiler distinguishes the two kinds. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }
}
