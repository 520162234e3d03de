package io.syncguard.batching;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a {@link Batcher} to a store.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
interface BatchSender<Q, A> {

    /** Returns the key of a request. Only one statement at a time has requests of a key. */
    Object keyOf(Q request);

    /** Returns the group of a request. The requests of a batch have equal groups. */
    Object groupOf(Q request);

    /** Sends one request. May block on a lock of the store. */
    A sendAlone(Q request);

    /**
     * Sends requests in one statement, which never blocks on a lock of the store. Requests of one key are in the order
     * of their arrival.
     *
     * @return in the order of the requests; {@code null} for each that has to be sent alone
     */
    List<@Nullable A> sendTogether(List<Q> requests);

    /** Creates the exception for one request of a batch that failed. */
    RuntimeException failureOf(Q request, RuntimeException batch);

    /**
     * Creates the exception for a request that a statement of another kind took along.
     *
     * @return {@code null} if the request was not sent; then it waits for another statement
     */
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
     * Creates the exception for a request that was not sent in time.
     *
     * @param last the failure of the last statement; {@code null} if it was answered
     */
    default RuntimeException notSent(Q request, @Nullable RuntimeException last) {
        return timedOut(request, false);
    }

    /** Creates the exception for a request that was not sent, or not answered, in time. */
    RuntimeException timedOut(Q request, boolean sent);
}
