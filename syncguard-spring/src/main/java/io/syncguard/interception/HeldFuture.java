package io.syncguard.interception;

import io.syncguard.LockBackendException;
import io.syncguard.LockLostException;
import io.syncguard.LockUnavailableException;
import io.syncguard.concurrent.Chain;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The future that an annotated method returns in place of the body's. It is done when the body's future is done and the
 * lock is released: a caller that sees the result finds the key free.
 *
 * <p>Cancelling it cancels the body's future. If the lock is lost meanwhile, it fails with {@link LockLostException}
 * when the body's future is done. With {@code OnLost.INTERRUPT}, the loss cancels the body's future.
 */
final class HeldFuture extends CompletableFuture<@Nullable Object> {

    private final Ending ending;
    private final Future<?> source;

    /** Written by the thread that detects the loss, before it cancels the source. Read when the source is done. */
    private volatile boolean lost;

    private HeldFuture(Future<?> source, Ending ending) {
        this.source = source;
        this.ending = ending;
    }

    /**
     * The actions when the body's future is done.
     *
     * @param check throws if the result must not be returned
     * @param end ends the lock; receives the failure of a future that a loss has cancelled
     */
    record Ending(Consumer<@Nullable Object> check, Consumer<@Nullable Throwable> end) {}

    /**
     * @param threads run the release, so that the thread that completes the stage does not wait for the server. If the
     *     stage is done already, the calling thread runs the release
     */
    static HeldFuture of(CompletionStage<?> stage, Ending ending, Consumer<Runnable> onLost, Executor threads) {
        HeldFuture held = new HeldFuture(stage.toCompletableFuture(), ending);
        onLost.accept(held::cancelSource);
        if (held.source.isDone()) {
            stage.whenComplete(held::end);
        } else {
            stage.whenCompleteAsync(held::end, threads);
        }
        return held;
    }

    /** @param threads run the task that waits for the future, because a plain future accepts no callback */
    static HeldFuture of(Future<?> future, Ending ending, Consumer<Runnable> onLost, Executor threads) {
        HeldFuture held = new HeldFuture(future, ending);
        onLost.accept(held::cancelSource);
        threads.execute(held::awaitSource);
        return held;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        try {
            source.cancel(mayInterruptIfRunning);
        } finally {
            super.cancel(mayInterruptIfRunning);
        }
        return isCancelled();
    }

    private void cancelSource() {
        lost = true;
        source.cancel(true);
    }

    private void awaitSource() {
        try {
            end(source.get(), null);
        } catch (ExecutionException ex) {
            end(null, ex.getCause());
        } catch (CancellationException ex) {
            end(null, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            end(null, ex);
        } catch (Throwable ex) {
            // A future of the application may throw anything, but the lock has to end.
            end(null, ex);
        }
    }

    private void end(@Nullable Object value, @Nullable Throwable thrown) {
        Throwable failure = thrown == null ? refusal(value) : afterBody(thrown);
        boolean cancelled = lost && failure != null && isCancelled(failure);
        try {
            ending.end().accept(cancelled ? failure : null);
        } catch (Throwable ex) {
            completeExceptionally(ex, cancelled ? null : failure);
            return;
        }
        if (failure == null) {
            complete(value);
        } else {
            completeExceptionally(failure);
        }
    }

    private @Nullable Throwable refusal(@Nullable Object value) {
        try {
            ending.check().accept(value);
            return null;
        } catch (RuntimeException | Error ex) {
            return ex;
        }
    }

    /** Reports the failure of the body rather than that of the release, unless the former is only our cancellation. */
    private void completeExceptionally(Throwable release, @Nullable Throwable failure) {
        if (failure == null || failure instanceof CancellationException) {
            completeExceptionally(release);
        } else {
            // CompletableFuture.get() unwraps a CompletionException, and would lose its suppressed exceptions.
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
            LockLostException.suppress(cause == null ? failure : cause, release);
            completeExceptionally(failure);
        }
    }

    /**
     * A {@link LockUnavailableException} says that no body has run. Here the body has begun, so its failure becomes
     * another exception. The body gets such an exception if it acquires a lock on another thread.
     */
    private static Throwable afterBody(Throwable thrown) {
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
        return cause instanceof LockUnavailableException failure
                ? new LockBackendException(failure.code(), String.valueOf(failure.getMessage()), failure)
                : thrown;
    }

    /** Whether the failure comes from a cancellation. A cancelled task may fail because of its interrupt. */
    private static boolean isCancelled(Throwable failure) {
        if (failure instanceof CancellationException) {
            return true;
        }
        return !(failure instanceof LockLostException)
                && Chain.causes(failure)
                        .anyMatch(each ->
                                each instanceof InterruptedException || each instanceof ClosedByInterruptException);
    }
}
