package io.syncguard.interception;

import io.syncguard.LockLostException;
import io.syncguard.concurrent.DaemonThreadFactory;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method, and ends its lock or term when its result is complete: at once, or when the returned future is done.
 * Thread-safe.
 */
public final class BodyRunner implements AutoCloseable {

    /** One thread waits for each plain future. The others only send releases. */
    private final ExecutorService threads;

    /** @param threadName the name of its daemon threads, which are numbered */
    public BodyRunner(String threadName) {
        this(DaemonThreadFactory.numbered(threadName));
    }

    BodyRunner(ThreadFactory factory) {
        // After the shutdown, a task runs on the submitting thread. If it were dropped, its future would never be done.
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                60,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                factory,
                (task, pool) -> task.run());
    }

    /** Like {@link #run(Callable, Consumer, Consumer, Consumer)}, but accepts any result. */
    public @Nullable Object run(
            Callable<@Nullable Object> method, Consumer<@Nullable Throwable> end, Consumer<Runnable> onLost)
            throws Exception {
        return run(method, result -> {}, end, onLost);
    }

    /**
     * Runs a method and then calls {@code end}: when the method returns, or when the future that it returns is done.
     *
     * @param check throws if the result, or that of the future, must not be returned; then the call fails
     * @param end runs once, with the failure of the future if a loss has cancelled it, else with {@code null}. If it
     *     throws, the call fails with its exception; if the method has failed, too, the call fails with the failure of
     *     the method, in which the exception is suppressed
     * @param onLost receives a callback that cancels the future, to be run on a loss
     * @return the result of the method; or, in place of a future, one that is done after {@code end}
     */
    public @Nullable Object run(
            Callable<@Nullable Object> method,
            Consumer<@Nullable Object> check,
            Consumer<@Nullable Throwable> end,
            Consumer<Runnable> onLost)
            throws Exception {
        Object result;
        try {
            result = method.call();
            Future<?> future = hold(result, new HeldFuture.Ending(check, end), onLost);
            if (future != null) {
                return future;
            }
            check.accept(result);
        } catch (Throwable failure) {
            endAfter(failure, end);
            throw failure;
        }
        end.accept(null);
        return result;
    }

    private static void endAfter(Throwable failure, Consumer<@Nullable Throwable> end) {
        try {
            end.accept(null);
        } catch (Throwable ex) {
            LockLostException.suppress(failure, ex);
        }
    }

    private @Nullable Future<?> hold(@Nullable Object result, HeldFuture.Ending ending, Consumer<Runnable> onLost) {
        if (result instanceof CompletionStage<?> stage) {
            return HeldFuture.of(stage, ending, onLost, this::runOnThread);
        }
        if (result instanceof Future<?> future) {
            return HeldFuture.of(future, ending, onLost, this::runOnThread);
        }
        return null;
    }

    /** Ends idle threads. A thread that waits for a future ends when the future is done. */
    @Override
    public void close() {
        threads.shutdown();
    }

    /**
     * Runs the task on the calling thread when no thread can be created: an event loop that blocks is better than no
     * release.
     */
    private void runOnThread(Runnable task) {
        try {
            threads.execute(task);
        } catch (Error ex) {
            task.run();
        }
    }
}
