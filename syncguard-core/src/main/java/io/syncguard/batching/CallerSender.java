package io.syncguard.batching;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.MessageText;
import io.syncguard.spi.Answers;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.StoreInfo;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests of callers to a store, and gives each request of a list its own failure.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
interface CallerSender<Q, A> extends BatchSender<Q, A> {

    /** The errors of a store that serves no request. */
    Set<LockErrorCode> OUTAGES = EnumSet.of(
            LockErrorCode.SERVICE_UNAVAILABLE,
            LockErrorCode.NETWORK_TIMEOUT,
            LockErrorCode.AUTH_FAILED,
            LockErrorCode.SCHEMA_MISSING);

    LockBackend store();

    CompletionStage<List<A>> send(List<Q> requests);

    /** Whether the store leaves the request to be sent alone. */
    boolean isUndecided(A answer);

    /** Describes what the request does, for messages: such as {@code acquiring lock 'order:42'}. */
    String doing(Q request);

    @Override
    default List<@Nullable A> sendTogether(List<Q> requests) {
        List<@Nullable A> answers = new ArrayList<>(Answers.await(() -> send(requests)));
        answers.replaceAll(answer -> answer == null || isUndecided(answer) ? null : answer);
        return answers;
    }

    @Override
    default RuntimeException failureOf(Q request, RuntimeException batch) {
        if (!(batch instanceof LockBackendException known)) {
            return failed(request, LockErrorCode.INTERNAL, String.valueOf(batch.getMessage()), batch);
        }
        LockBackendException own = failed(request, known.code(), reasonOf(known), known.getCause());
        return known instanceof RequestNotSentException ? new RequestNotSentException(own) : own;
    }

    @Override
    default @Nullable RuntimeException failureAlong(Q request, RuntimeException statement) {
        return statement instanceof RequestNotSentException ? null : failureOf(request, statement);
    }

    @Override
    default RuntimeException interrupted(Q request, boolean sent) {
        LockBackendException interrupted = failed(request, LockErrorCode.ABORTED, "the thread was interrupted", null);
        return sent ? interrupted : new RequestNotSentException(interrupted);
    }

    /** An outage keeps requests waiting that no long lock does. */
    @Override
    default RuntimeException notSent(Q request, @Nullable RuntimeException last) {
        return last instanceof LockBackendException known && OUTAGES.contains(known.code())
                ? new RequestNotSentException(failed(
                        request, known.code(), "the requests before it failed: " + reasonOf(known), known.getCause()))
                : timedOut(request, false);
    }

    @Override
    default RuntimeException timedOut(Q request, boolean sent) {
        StoreInfo store = store().info();
        String advice = ". Look for long locks, and at the network. The limit of "
                + MessageText.of(sent ? store.timeout().multipliedBy(2) : store.timeout()) + " is "
                + (sent ? "twice " : "") + "the timeout of the store '" + store.name()
                + "': see its network-timeout";
        return sent
                ? failed(request, LockErrorCode.NETWORK_TIMEOUT, "the server did not answer in time" + advice, null)
                : new RequestNotSentException(failed(
                        request, LockErrorCode.RATE_LIMITED, "the requests before it took too long" + advice, null));
    }

    /** Without what the store says of the whole list, as in: Failed while acquiring 3 lock(s): the reason. */
    private static String reasonOf(LockBackendException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.startsWith("Failed while ") ? message.substring(message.indexOf(": ") + 2) : message;
    }

    private LockBackendException failed(Q request, LockErrorCode code, String reason, @Nullable Throwable cause) {
        return new LockBackendException(code, "Failed while " + doing(request) + ": " + reason, cause);
    }
}
