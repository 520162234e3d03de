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
 *   <li>Otherwise requests wait in a queue. When another batch may be under way, the first of them depart in it: those
 *       of a part of the callers, so that several batches overlap.
 *   <li>A batch departs on the thread of a caller, or on the thread that delivers the answer to another batch. Neither
 *       blocks. There is no other thread and no lock.
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

        /**
         * @return the answers, in the order of the requests. The batcher cancels the future when no caller waits any
         *     more
         */
        CompletableFuture<List<A>> send(List<Q> requests);
    }

    /**
     * The limits of a batcher.
     *
     * @param callers number of callers up to which each sends its request alone
     * @param batches maximum number of batches under way
     * @param batchSize maximum number of requests in one batch
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
     * Counts a caller, until {@link #leave}.
     *
     * @return whether the caller sends its request alone, because there are few callers
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
     * Sends waiting requests while the limit allows another batch. Either this thread sees that an answer has made
     * room, or the thread of that answer sees the requests that were queued before this thread looked for room.
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

        /** Number of callers that wait for an answer, plus one while the batch is being sent. */
        private final AtomicInteger present = new AtomicInteger(1);

        private CompletableFuture<List<A>> sent = new CompletableFuture<>();

        /** Takes the first waiting requests, except those whose callers have left. */
        Batch() {
            // A batch of all callers would leave nothing to do while it is under way.
            int size = Math.min(limits.batchSize(), 1 + callers.get() / limits.batches());
            while (replies.size() < size) {
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

        /** The last one that leaves cancels the batch, and so makes room: the answer may never come. */
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
