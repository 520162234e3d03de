package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** Waits for the answers of a {@link LockBackend}. The store limits how long that takes. */
public final class Answers {

    private Answers() {}

    /**
     * Waits for an answer.
     *
     * @throws LockBackendException if the store fails, or with {@code ABORTED} if the thread is interrupted, whose flag
     *     stays set
     */
    public static <A> A await(Supplier<? extends CompletionStage<A>> request) {
        CompletableFuture<A> answer = request.get().toCompletableFuture();
        boolean isLate = !answer.isDone();
        try {
            return answer.get();
        } catch (InterruptedException ex) {
            answer.cancel(false);
            Thread.currentThread().interrupt();
            throw new LockBackendException(
                    LockErrorCode.ABORTED, "Failed while waiting for the store: the thread was interrupted", ex);
        } catch (ExecutionException | CancellationException ex) {
            throw thrown(ex.getCause() == null ? ex : ex.getCause(), isLate);
        }
    }

    /** Waits for the answer to a list of one request. */
    public static <A> A awaitOnly(Supplier<? extends CompletionStage<List<A>>> request) {
        return await(request).get(0);
    }

    /** An error that another thread has made shows the stack of the caller. */
    private static RuntimeException thrown(Throwable failure, boolean isLate) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (!(failure instanceof RuntimeException)) {
            return new IllegalStateException(failure);
        }
        if (isLate) {
            failure.fillInStackTrace();
        }
        return (RuntimeException) failure;
    }
}
