package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of acquire requests that share a statement, as arrays.
 *
 * @param wakeUps receives the wake-ups of this process; {@code null} if its waiters poll
 */
record RequestArrays(
        Connection connection,
        List<AcquireRequest> requests,
        @Nullable WakeUpSubscriber wakeUps) {

    Array keys() throws SQLException {
        return array("text", AcquireRequest::key);
    }

    Array lockIds() throws SQLException {
        return array("text", AcquireRequest::lockId);
    }

    Array ttls() throws SQLException {
        return array("bigint", request -> request.ttl().toMillis());
    }

    Array owners() throws SQLException {
        return array("text", AcquireRequest::owner);
    }

    Array shared() throws SQLException {
        return array("boolean", request -> request.mode() == LockMode.SHARED);
    }

    Array permits() throws SQLException {
        return array("integer", RequestArrays::permitsOf);
    }

    Array queued() throws SQLException {
        return array("boolean", AcquireRequest::queued);
    }

    Array waiters() throws SQLException {
        return array("bigint", AcquireRequest::waiterNumber);
    }

    Array secrets() throws SQLException {
        return array("text", request -> secretOf(request, wakeUps));
    }

    Array handOvers() throws SQLException {
        return array("boolean", request -> handsOver(request, wakeUps));
    }

    private Array array(String type, Function<AcquireRequest, @Nullable Object> part) throws SQLException {
        return connection.createArrayOf(type, requests.stream().map(part).toArray());
    }

    /** Returns 1 for an exclusive request, and {@code null} for a shared one without a limit. */
    static @Nullable Integer permitsOf(AcquireRequest request) {
        if (request.mode() == LockMode.EXCLUSIVE) {
            return 1;
        }
        return request.permits() == 0 ? null : request.permits();
    }

    static boolean handsOver(AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        return request.handOver() && wakeUps != null;
    }

    static @Nullable String channelOf(@Nullable WakeUpSubscriber wakeUps) {
        return wakeUps == null ? null : wakeUps.channel();
    }

    static @Nullable String secretOf(AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        Long waiter = request.waiterNumber();
        return wakeUps == null || waiter == null ? null : wakeUps.secretOf(waiter);
    }
}
