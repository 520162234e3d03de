package io.syncguard.core;

import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one thread of the engine to the servers of a store: at most one is under way at each server, and no
 * server waits for the answer of another. A store may answer at once, on this thread; any other answer waits for
 * {@link #settle}.
 */
final class ServerTurns implements AutoCloseable {

    private record UnderWay(CompletableFuture<?> answer, Runnable ended) {}

    private final Map<Integer, UnderWay> underWay = new ConcurrentHashMap<>();
    private final Runnable answered;
    private volatile boolean closed;

    /** @param answered called when an answer has arrived; makes the thread call {@link #settle} soon */
    ServerTurns(Runnable answered) {
        this.answered = answered;
    }

    boolean isFree(int server) {
        return !underWay.containsKey(server);
    }

    /**
     * Sends a request to a free server.
     *
     * @param request fails by throwing or by its result
     * @param ended receives the answer or the failure, once
     */
    <A> void send(
            int server,
            Supplier<? extends CompletionStage<A>> request,
            BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        CompletableFuture<A> answer = send(request);
        if (answer.isDone()) {
            end(answer, ended);
            return;
        }
        underWay.put(server, new UnderWay(answer, () -> end(answer, ended)));
        answer.whenComplete((any, error) -> wake());
    }

    /** Ends the requests whose answers are there. */
    void settle() {
        underWay.forEach((server, each) -> {
            if (each.answer().isDone() && underWay.remove(server, each)) {
                each.ended().run();
            }
        });
    }

    /** From now on, an answer is settled when it arrives. */
    @Override
    public void close() {
        closed = true;
        settle();
    }

    private void wake() {
        if (closed) {
            settle();
        } else {
            answered.run();
        }
    }

    /** Sends a request whatever is under way. */
    static <A> CompletableFuture<A> send(Supplier<? extends CompletionStage<A>> request) {
        try {
            return request.get().toCompletableFuture();
        } catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Waits for an answer. The store limits how long that takes. */
    static <A> void await(CompletableFuture<A> answer, BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        try {
            answer.join();
        } catch (CompletionException | CancellationException ex) {
            // It is received below.
        }
        end(answer, ended);
    }

    private static <A> void end(CompletableFuture<A> answer, BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        answer.whenComplete((result, error) -> ended.accept(
                result, error instanceof CompletionException && error.getCause() != null ? error.getCause() : error));
    }
}
