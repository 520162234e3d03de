package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.MessageText;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * How long a request waits for its answer, and why.
 *
 * @param limit how long it waits
 * @param longest how long a request waits that concerns no lease
 * @param source what sets that, such as {@code half of syncguard.postgres.network-timeout}
 */
public record AnswerLimit(Duration limit, Duration longest, String source) {

    /** Names the limit in the message of a request that was not answered in time. Any other failure stays as it is. */
    public LockBackendException addTo(LockBackendException failure) {
        if (failure.code() != LockErrorCode.NETWORK_TIMEOUT) {
            return failure;
        }
        String reason = limit.compareTo(longest) < 0
                ? "a third of the ttl, at least 100ms: see syncguard.ttl and the ttl of the lock"
                : source;
        LockBackendException named = new LockBackendException(
                failure.code(),
                failure.getMessage() + ". The limit of " + MessageText.of(limit) + " is " + reason,
                failure.getCause());
        Stream.of(failure.getSuppressed()).forEach(named::addSuppressed);
        return named;
    }
}
