package io.syncguard.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Keeps what a method runs under until the future that it returned is done. Threads may share it.
 */
public final class HeldFutures implements AutoCloseable {

    /** One waits for each plain future; all others only send releases. */
    private final ExecutorService threads;

    /** @param threadPrefix what the names of its daemon threads begin with */
    public HeldFutures(String threadPrefix) {
        CustomizableThreadFactory factory = new CustomizableThreadFactory(threadPrefix);
        factory.setDaemon(true);
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
     * Takes the place of a future.
     *
     * @param result what the method returned
     * @param end runs once when the future is done; what it throws makes ours fail
     * @param onLost is given what cancels the future, to be run when that is to stop
     * @return the future for the caller, or {@code null} for a result that is there
     */
    public @Nullable CompletableFuture<@Nullable Object> hold(
            @Nullable Object result, Runnable end, Consumer<Runnable> onLost) {
        if (result instanceof CompletionStage<?> stage) {
            return HeldFuture.of(stage, end, onLost, threads);
        }
        if (result instanceof Future<?> future) {
            return HeldFuture.of(future, end, onLost, threads);
        }
        return null;
    }

    /** Ends idle threads; one that waits for a future ends with it. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
