package io.syncguard.batching;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A statement that is under way until the test lets it return. */
final class ManualStatement {

    final Thread thread = Thread.currentThread();
    final boolean isBatch;

    private final List<StoreRequest> requests;
    private final CompletableFuture<List<@Nullable String>> outcome = new CompletableFuture<>();
    private volatile boolean interruptsThread;

    ManualStatement(List<StoreRequest> requests, boolean isBatch) {
        this.requests = requests;
        this.isBatch = isBatch;
    }

    List<String> names() {
        return requests.stream().map(StoreRequest::name).toList();
    }

    void answer() {
        skip();
    }

    /** Skips the requests with these names, and answers the others. */
    void skip(String... names) {
        List<String> skipped = List.of(names);
        List<@Nullable String> answers = new ArrayList<>();
        requests.forEach(request -> answers.add(skipped.contains(request.name()) ? null : request.answer()));
        outcome.complete(answers);
    }

    void answerInFull(List<@Nullable String> answers) {
        outcome.complete(answers);
    }

    void fail(Throwable failure) {
        outcome.completeExceptionally(failure);
    }

    /** Answers, and interrupts the thread of the statement. */
    void answerAndInterrupt() {
        interruptsThread = true;
        answer();
    }

    /** Runs on the thread of the statement. Fails if it is interrupted, as a driver may. */
    List<@Nullable String> await() {
        try {
            return outcome.get();
        } catch (InterruptedException ex) {
            throw new ManualStore.Failure("the statement was interrupted");
        } catch (ExecutionException ex) {
            if (ex.getCause() instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) ex.getCause();
        } finally {
            outcome.cancel(false);
            if (interruptsThread) {
                thread.interrupt();
            }
        }
    }

    boolean isUnderWay() {
        return !outcome.isDone();
    }

    @Override
    public String toString() {
        return (isBatch ? "batch " : "alone ") + names();
    }
}
