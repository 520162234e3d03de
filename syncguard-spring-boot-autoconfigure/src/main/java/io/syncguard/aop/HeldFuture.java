package io.syncguard.aop;

import io.syncguard.LockLostException;
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
 * The future that an annotated method returns in place of its body's: it is done when the body's is done and the lock has
 * been released, so that whoever sees the result finds the key free.
 *
 * <p>Cancelling it cancels the body's. A lock that is lost meanwhile makes it fail with {@link LockLostException}, at the end
 * of the body's future or, if the lock interrupts, by cancelling that.
 */
final class HeldFuture extends CompletableFuture<@Nullable Object> {

    private final Runnable end;
    private final Future<?> source;

    private HeldFuture(Future<?> source, Runnable end) {
        this.source = source;
        this.end = end;
    }

    /**
     * @param threads run the release, so that the thread that completes the stage need not wait for the server; a stage that
     *     is done already ends here, on the caller's thread
     */
    static HeldFuture of(CompletionStage<?> stage, Runnable end, Consumer<Runnable> onLost, Executor threads) {
        HeldFuture held = new HeldFuture(stage.toCompletableFuture(), end);
        onLost.accept(held::cancelSource);
        if (held.source.isDone()) {
            stage.whenComplete(held::end);
        } else {
            stage.whenCompleteAsync(held::end, threads);
        }
        return held;
    }

    /** @param threads one waits for the future, which tells nobody when it is done */
    static HeldFuture of(Future<?> future, Runnable end, Consumer<Runnable> onLost, Executor threads) {
        HeldFuture held = new HeldFuture(future, end);
        onLost.accept(held::cancelSource);
        threads.execute(held::awaitSource);
        return held;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        source.cancel(mayInterruptIfRunning);
        return super.cancel(mayInterruptIfRunning);
    }

    private void cancelSource() {
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
        }
    }

    private void end(@Nullable Object value, @Nullable Throwable failure) {
        try {
            end.run();
        } catch (RuntimeException ex) {
            completeExceptionally(ex, failure);
            return;
        }
        if (failure == null) {
            complete(value);
        } else {
            completeExceptionally(failure);
        }
    }

    /** The body's own failure comes first, unless it is no more than our cancelling it. */
    private void completeExceptionally(RuntimeException release, @Nullable Throwable failure) {
        if (failure == null || failure instanceof CancellationException) {
            completeExceptionally(release);
        } else {
            // CompletableFuture.get() takes the wrapper off, and what is suppressed beneath it with it.
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
            (cause == null ? failure : cause).addSuppressed(release);
            completeExceptionally(failure);
        }
    }
}
