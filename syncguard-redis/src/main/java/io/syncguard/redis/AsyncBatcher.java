package io.syncguard.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests of many threads share calls to a store that answers later. Thread-safe.
 *
 * <ul>
 *   <li>While there are few callers, each sends its request alone.
 *   <li>Otherwise requests wait in a queue. When there is room for a batch, all that wait depart in one.
 *   <li>A batch departs on the thread of a caller, or on the thread that brings the answer to another batch. Neither
 *       waits, and there is no other thread and no lock.
 *   <li>Each caller waits for its own answer, and may leave at any time.
 * </ul>
 *
 * @param <Q> a request
 * @param <A> its answer
 */
final class AsyncBatcher<Q, A> {

    /** Sends requests in one call. */
    @FunctionalInterface
    interface Sender<Q, A> {

        /** @return the answers, in the order of the requests. It is cancelled when no caller waits for them any more */
        CompletableFuture<List<A>> send(List<Q> requests);
    }

    /**
     * The limits of a batcher.
     *
     * @param callers how many callers send their requests alone
     * @param batches how many batches are under way at most
     * @param batchSize how many requests one batch has at most
     */
    record Limits(int callers, int batches, int batchSize) {}

    private final Sender<Q, A> sender;
    private final Limits limits;

    private final AtomicInteger callers = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();
    private final Queue<BatchedReply<Q, A>> waiting = new ConcurrentLinkedQueue<>();

    AsyncBatcher(Sender<Q, A> sender, Limits limits) {
        this.sender = sender;
        this.limits = limits;
    }

    /**
     * Notes a caller, until {@link #leave}.
     *
     * @return whether it sends its request alone, because there are few
     */
    boolean enter() {
        return callers.incrementAndGet() <= limits.callers();
    }

    void leave() {
        callers.decrementAndGet();
    }

    /** Sends a request in a batch, and does not wait. A caller that leaves has to cancel the result. */
    BatchedReply<Q, A> send(Q request) {
        BatchedReply<Q, A> reply = new BatchedReply<>(request);
        waiting.add(reply);
        depart();
        return reply;
    }

    /**
     * Sends what waits, as far as there is room. Either this thread sees the room of an answer, or the thread
     * of that answer sees what has been added to the queue before this thread looked for room.
     */
    private void depart() {
        while (!waiting.isEmpty() && takeRoom()) {
            Batch batch = new Batch();
            if (batch.replies.isEmpty()) {
                underWay.decrementAndGet();
            } else {
                batch.send();
            }
        }
    }

    private boolean takeRoom() {
        return underWay.getAndUpdate(batches -> Math.min(batches + 1, limits.batches())) < limits.batches();
    }

    /** The requests of one call. */
    private final class Batch {

        private final List<BatchedReply<Q, A>> replies = new ArrayList<>();

        /** The callers that wait for an answer, and the thread that sends the batch. */
        private final AtomicInteger present = new AtomicInteger(1);

        private CompletableFuture<List<A>> sent = new CompletableFuture<>();

        /** With the first requests that wait, except those whose callers have left. */
        Batch() {
            while (replies.size() < limits.batchSize()) {
                BatchedReply<Q, A> reply = waiting.poll();
                if (reply == null) {
                    break;
                }
                present.incrementAndGet();
                if (reply.joins(this::leave)) {
                    replies.add(reply);
                } else {
                    present.decrementAndGet();
                }
            }
        }

        void send() {
            try {
                sent = sender.send(replies.stream().map(BatchedReply::request).toList());
            } catch (Throwable ex) {
                sent.completeExceptionally(ex);
            }
            sent.whenComplete(this::answered);
            leave();
        }

        /** The last one that leaves makes room: the answer may never come. */
        private void leave() {
            if (present.decrementAndGet() == 0) {
                sent.cancel(false);
            }
        }

        private void answered(@Nullable List<A> answers, @Nullable Throwable error) {
            underWay.decrementAndGet();
            try {
                // The next batch departs before the answers are delivered, because everybody waits for it.
                depart();
            } finally {
                deliver(answers, error);
            }
        }

        private void deliver(@Nullable List<A> answers, @Nullable Throwable error) {
            Throwable failure = error;
            if (answers != null && answers.size() != replies.size()) {
                failure = new IllegalStateException(answers.size() + " answers to " + replies.size() + " requests");
            }
            for (int i = 0; i < replies.size(); i++) {
                if (answers == null || failure != null) {
                    replies.get(i).completeExceptionally(Objects.requireNonNull(failure));
                } else {
                    replies.get(i).complete(answers.get(i));
                }
            }
        }
    }
}
