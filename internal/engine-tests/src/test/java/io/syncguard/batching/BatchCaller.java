package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread that sends one request. */
final class BatchCaller {

    private static final long PATIENCE_SECONDS = 20;

    final StoreRequest request;
    final Thread thread;

    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private volatile boolean isInterruptedAtEnd;

    BatchCaller(Batcher<StoreRequest, String> batcher, StoreRequest request) {
        this.request = request;
        this.thread = new Thread(() -> send(batcher), "caller-" + request);
        thread.setDaemon(true);
        thread.start();
    }

    boolean hasEnded() {
        return answer.isDone();
    }

    void interrupt() {
        thread.interrupt();
    }

    void getsItsAnswer() {
        assertThat(end()).isEqualTo(request.answer());
    }

    void fails(String message) {
        assertThat(end()).isEqualTo("Failure: " + message);
    }

    /** Asserts that the call fails because of an interrupt, and leaves the flag set. */
    void failsInterrupted(String message) {
        fails(message);
        assertThat(isInterruptedAtEnd).isTrue();
    }

    private String end() {
        try {
            return answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException ex) {
            return ex.getCause().getClass().getSimpleName() + ": "
                    + ex.getCause().getMessage();
        } catch (InterruptedException | TimeoutException ex) {
            throw new AssertionError(request + " does not end", ex);
        }
    }

    private void send(Batcher<StoreRequest, String> batcher) {
        try {
            String sent = batcher.send(request);
            isInterruptedAtEnd = Thread.currentThread().isInterrupted();
            answer.complete(sent);
        } catch (RuntimeException | Error ex) {
            isInterruptedAtEnd = Thread.currentThread().isInterrupted();
            answer.completeExceptionally(ex);
        }
    }

    @Override
    public String toString() {
        return request + ": " + answer;
    }
}
