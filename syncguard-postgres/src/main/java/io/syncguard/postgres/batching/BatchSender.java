package io.syncguard.postgres.batching;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a {@link Batcher} to a store.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
public interface BatchSender<Q, A> {

    /** One statement at a time has requests of a key. */
    Object keyOf(Q request);

    /** Requests of one batch are of equal groups. */
    Object groupOf(Q request);

    /**
     * Sends one request. May wait for a lock of the store.
     *
     * @param deadline when the time of the request is over
     */
    A sendAlone(Q request, long deadline);

    /**
     * Sends requests in one statement, which never waits for a lock of the store. Requests of one key are in the
     * order of their arrival.
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

    /** Does the same for a request that a statement of another kind has taken along. */
    default @Nullable RuntimeException failureAlong(Q request, RuntimeException statement) {
        return failureOf(request, statement);
    }

    /**
     * Gives back the answers to requests of one key whose callers have left. The engine of the callers may have stopped
     * since, and would not give them back any more.
     */
    default void unclaimed(Map<Q, A> answers) {}

    /** For a caller that was interrupted. */
    RuntimeException interrupted(Q request, boolean sent);

    /** For a request that was not sent within the wait limit, or not answered within two. */
    RuntimeException timedOut(Q request, boolean sent);
}
