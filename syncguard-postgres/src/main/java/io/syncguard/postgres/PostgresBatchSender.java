package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.postgres.batching.BatchSender;
import io.syncguard.spi.RequestNotSentException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to PostgreSQL, and gives each request of a batch its own failure.
 *
 * @param <Q> a request
 * @param <A> its answer
 */
interface PostgresBatchSender<Q, A> extends BatchSender<Q, A> {

    /** Describes what the request does, for messages. */
    String doing(Q request);

    @Override
    default @Nullable RuntimeException failureOf(Q request, RuntimeException batch) {
        SQLException error = batch.getCause() instanceof SQLException cause ? cause : new SQLException(batch);
        if (batch instanceof RequestNotSentException) {
            return PostgresErrors.notSent(doing(request), error);
        }
        return PostgresErrors.isRolledBack(error) ? null : PostgresErrors.translate(doing(request), error);
    }

    @Override
    default RuntimeException interrupted(Q request, boolean sent) {
        LockBackendException interrupted = failed(request, LockErrorCode.ABORTED, "the thread was interrupted");
        return sent ? interrupted : new RequestNotSentException(interrupted);
    }

    @Override
    default RuntimeException timedOut(Q request, boolean sent) {
        String advice = "Look for long locks, and at the network";
        return sent
                ? failed(request, LockErrorCode.NETWORK_TIMEOUT, "the server did not answer in time. " + advice)
                : new RequestNotSentException(
                        failed(request, LockErrorCode.RATE_LIMITED, "the requests before it took too long. " + advice));
    }

    private LockBackendException failed(Q request, LockErrorCode code, String reason) {
        return new LockBackendException(code, "Failed while " + doing(request) + ": " + reason, null);
    }
}
