package io.syncguard.postgres.batching;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a {@link Batcher} to a store.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
public interface BatchSender<Q, A> {

    /** The key whose requests have turns; {@code null} if this request needs none. */
    @Nullable
    Object keyOf(Q request);

    /** Whether it needs its turn only when it is sent alone: a batch may have several such requests of a key. */
    default boolean sharesBatch(Q request) {
        return false;
    }

    /** Requests of one batch are of equal groups. {@code null} if this request is always sent alone. */
    @Nullable
    Object groupOf(Q request);

    /**
     * Sends one request. May wait for a lock of the store.
     *
     * @param deadline when the time of the request is over
     */
    A sendAlone(Q request, long deadline);

    /**
     * Sends requests in one statement, which never waits for a lock of the store. Two of them have the same key only
     * if both {@linkplain #sharesBatch share} it.
     *
     * @return in the order of the requests; {@code null} for each that has to be sent alone
     */
    List<@Nullable A> sendTogether(List<Q> requests);

    /**
     * The failure of one request in a batch that failed, as an exception of its own.
     *
     * @return {@code null} if the batch surely had no effect; then each request is sent alone
     */
    @Nullable
    RuntimeException failureOf(Q request, RuntimeException batch);

    /**
     * Gives back the answer to a request in a batch whose caller has left. The engine of the caller may have stopped
     * since, and would not release a grant any more.
     */
    default void unclaimed(Q request, A answer) {}

    /** For a caller that was interrupted. */
    RuntimeException interrupted(Q request, boolean sent);

    /** For a request that was not sent within the wait limit, or not answered within two. */
    RuntimeException timedOut(Q request, boolean sent);
}
