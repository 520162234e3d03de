package io.syncguard.interception;

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
 * Keeps what a method runs under until the future that it returned is done. Threads may share it.
 */
public final class BodyRunner implements AutoCloseable {

    /** One waits for each plain future; all others only send releases. */
    private final ExecutorService threads;

    /** @param threadName the name of its daemon threads, which are numbered */
    public BodyRunner(String threadName) {
        this(DaemonThreadFactory.numbered(threadName));
    }

    BodyRunner(ThreadFactory factory) {
        // A task that comes after the shutdown runs on the thread that brings it: dropped, its future would never be
        // done.
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                60,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                factory,
                (task, pool) -> task.run());
    }

    /**
     * Runs a method, and ends what it runs under: when it returns, or when the future is done that it returns.
     *
     * @param end runs once, and is given what the future failed with if it was cancelled from here. What it throws is
     *     the failure of the call, or suppressed beneath that of the method
     * @param onLost is given what cancels the future, to be run when that is to stop
     * @return what the method returned, or a future in the place of its own
     */
    public @Nullable Object run(
            Callable<@Nullable Object> method, Consumer<@Nullable Throwable> end, Consumer<Runnable> onLost)
            throws Exception {
        Object result;
        try {
            result = method.call();
            Future<?> future = hold(result, end, onLost);
            if (future != null) {
                return future;
            }
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
        } catch (RuntimeException ex) {
            HeldFuture.suppress(failure, ex);
        }
    }

    private @Nullable Future<?> hold(
            @Nullable Object result, Consumer<@Nullable Throwable> end, Consumer<Runnable> onLost) {
        if (result instanceof CompletionStage<?> stage) {
            return HeldFuture.of(stage, end, onLost, this::runOnThread);
        }
        if (result instanceof Future<?> future) {
            return HeldFuture.of(future, end, onLost, this::runOnThread);
        }
        return null;
    }

    /** Ends idle threads; one that waits for a future ends with it. */
    @Override
    public void close() {
        threads.shutdown();
    }

    /** On the thread that brings it when none can be made. An event loop that waits is better than no release. */
    private void runOnThread(Runnable task) {
        try {
            threads.execute(task);
        } catch (Error ex) {
            task.run();
        }
    }
}
