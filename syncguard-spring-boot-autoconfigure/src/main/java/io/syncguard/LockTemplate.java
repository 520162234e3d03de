package io.syncguard;

import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Runs code under a lock: acquires, runs the body, releases. Threads may share it.
 *
 * <pre>{@code
 * Receipt receipt = locks.execute("order:" + id, lock -> payments.charge(id, lock.fence()));
 * }</pre>
 *
 * <p>The lock ends when the body returns. A body that hands its work to other threads {@link LockHandle#bind binds} it
 * and waits for it, or uses {@link DistributedLock} on a method that returns a future.
 *
 * <p>Each method throws what {@link LockManager#acquire} throws before the body runs, what the body throws unwrapped,
 * also when it is a checked exception, and {@link LockLostException} when the lock was lost while the body ran. Where
 * both happen, the body's exception is thrown and the other is suppressed beneath it; but a body that fails only
 * because the loss interrupted it ({@link InterruptedException}, an exception caused by one, or what I/O throws in its
 * place) has its exception as the cause of the {@code LockLostException}, and the thread's interrupt flag is down.
 */
public final class LockTemplate {

    private final LockManager manager;

    public LockTemplate(LockManager manager) {
        this.manager = manager;
    }

    /** Waits for the key as long as {@code syncguard.wait-time} says and runs the body under it. */
    public <T extends @Nullable Object> T execute(String key, LockCallback<T> body) {
        return execute(LockRequest.of(key), body);
    }

    /** Waits for the lock as long as the request says and runs the body under it. */
    public <T extends @Nullable Object> T execute(LockRequest request, LockCallback<T> body) {
        return execute(manager.acquire(request), body);
    }

    /** Like {@link #execute(LockRequest, LockCallback)} for a body without a result. */
    public void executeWithoutResult(LockRequest request, LockAction body) {
        execute(request, lock -> {
            body.doWithLock(lock);
            return lock;
        });
    }

    /**
     * Makes exactly one attempt, whatever the wait time of the request, and runs the body if it is granted.
     *
     * @return what the body returned; empty when others hold the key or wait for it, or the body returned {@code null}
     */
    public <T> Optional<T> tryExecute(LockRequest request, LockCallback<? extends @Nullable T> body) {
        LockHandle lock = manager.tryAcquire(request);
        return lock == null ? Optional.empty() : Optional.ofNullable(this.<@Nullable T>execute(lock, body::doWithLock));
    }

    /** Runs the body under a lock that was acquired before, and releases it. */
    public <T extends @Nullable Object> T execute(LockHandle lock, LockCallback<T> body) {
        T result;
        try {
            result = call(lock.bind(() -> body.doWithLock(lock)));
        } catch (Throwable failure) {
            releaseAfter(failure, lock);
            throw failure;
        }
        lock.close();
        return result;
    }

    /** The manager on which this template works. */
    public LockManager manager() {
        return manager;
    }

    private static void releaseAfter(Throwable failure, LockHandle lock) {
        try {
            lock.close();
        } catch (LockLostException lost) {
            // Thrown once: a body that the loss interrupted has thrown it already, or a nested one under the same lock.
            if (!(failure instanceof LockLostException thrown && thrown.key().equals(lost.key()))) {
                failure.addSuppressed(lost);
            }
        } catch (RuntimeException ex) {
            failure.addSuppressed(ex);
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
