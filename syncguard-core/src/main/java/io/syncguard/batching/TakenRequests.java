package io.syncguard.batching;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one key that waited in a {@link Batcher}, and that another statement takes along. {@link #send} has to be
 * called once. One thread uses it.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
final class TakenRequests<Q, A> {

    private final Batcher<Q, A> batcher;
    private final BatchSender<Q, A> sender;
    private final Batch<Q, A> batch;

    TakenRequests(Batcher<Q, A> batcher, BatchSender<Q, A> sender, Batch<Q, A> batch) {
        this.batcher = batcher;
        this.sender = sender;
        this.batch = batch;
    }

    boolean isEmpty() {
        return batch.isEmpty();
    }

    int size() {
        return batch.size();
    }

    /**
     * Sends the requests. If the statement fails, each of them {@linkplain BatchSender#failureAlong gets its own
     * failure}.
     *
     * @param answers in the order of the requests; {@code null} for each that has to be sent again
     */
    <R> R send(Function<List<Q>, R> statement, Function<R, List<@Nullable A>> answers) {
        try {
            R result = statement.apply(batch.requests());
            batch.answered(answers.apply(result));
            return result;
        } catch (Throwable ex) {
            batch.failed(ex, sender::failureAlong);
            throw ex;
        } finally {
            batcher.bringBack(batch);
        }
    }
}
