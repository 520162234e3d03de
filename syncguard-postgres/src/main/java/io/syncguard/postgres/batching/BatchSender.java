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

    /** Returns the key of a request. Only one statement at a time has requests of a key. */
    Object keyOf(Q request);

    /** Returns the group of a request. The requests of a batch have equal groups. */
    Object groupOf(Q request);

    /**
     * Sends one request. May block on a lock of the store.
     *
     * @param deadline when the request times out
     */
    A sendAlone(Q request, long deadline);

    /**
     * Sends requests in one statement, which never blocks on a lock of the store. Requests of one key are in the order
     * of their arrival.
     *
     * @return in the order of the requests; {@code null} for each that has to be sent alone
     */
    List<@Nullable A> sendTogether(List<Q> requests);

    /**
     * Creates the exception for one request of a batch that failed.
     *
     * @return {@code null} if the batch certainly had no effect; then each request is sent alone
     */
    @Nullable
    RuntimeException failureOf(Q request, RuntimeException batch);

    /** Does the same for a request that a statement of another kind took along. */
    default @Nullable RuntimeException failureAlong(Q request, RuntimeException statement) {
        return failureOf(request, statement);
    }

    /**
     * Gives back the answers to requests of one key whose callers have left. The engine of the callers may have stopped
     * since, and then does not give them back itself.
     */
    default void unclaimed(Map<Q, A> answers) {}

    /** Creates the exception for an interrupted caller. */
    RuntimeException interrupted(Q request, boolean sent);

    /**
     * Creates the exception for a request that was not sent within the wait limit, or not answered within twice the
     * limit.
     */
    RuntimeException timedOut(Q request, boolean sent);
}
