package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
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
        return array("text", String[]::new, AcquireRequest::key);
    }

    Array lockIds() throws SQLException {
        return array("text", String[]::new, AcquireRequest::lockId);
    }

    Array ttls() throws SQLException {
        return array("bigint", Long[]::new, request -> request.options().ttl().toMillis());
    }

    Array owners() throws SQLException {
        return array("text", String[]::new, request -> request.options().owner());
    }

    Array shared() throws SQLException {
        return array("boolean", Boolean[]::new, request -> request.options().mode() == LockMode.SHARED);
    }

    Array permits() throws SQLException {
        return array("integer", Integer[]::new, RequestArrays::permitsOf);
    }

    Array queued() throws SQLException {
        return array("boolean", Boolean[]::new, AcquireRequest::queued);
    }

    Array waiters() throws SQLException {
        return array("bigint", Long[]::new, AcquireRequest::waiterNumber);
    }

    Array secrets() throws SQLException {
        return array("text", String[]::new, request -> secretOf(request, wakeUps));
    }

    Array handOvers() throws SQLException {
        return array("boolean", Boolean[]::new, request -> handsOver(request, wakeUps));
    }

    /**
     * Sets what queue entries say of these requests, from this parameter on.
     *
     * @return the next parameter
     */
    int setEntries(PreparedStatement statement, int first) throws SQLException {
        int parameter = first;
        for (Array each : List.of(lockIds(), shared(), permits(), owners(), waiters(), secrets(), handOvers())) {
            statement.setArray(parameter++, each);
        }
        return parameter;
    }

    /** Makes an array of the exact class: the driver sends that in binary form, and an {@code Object[]} as text. */
    private <T> Array array(String type, IntFunction<T[]> maker, Function<AcquireRequest, @Nullable T> part)
            throws SQLException {
        return connection.createArrayOf(type, requests.stream().map(part).toArray(maker));
    }

    /** Returns 1 for an exclusive request, and {@code null} for a shared one without a limit. */
    static @Nullable Integer permitsOf(AcquireRequest request) {
        if (request.options().mode() == LockMode.EXCLUSIVE) {
            return 1;
        }
        return request.options().permits() == 0 ? null : request.options().permits();
    }

    static boolean handsOver(AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        return request.options().handOver() && wakeUps != null;
    }

    static @Nullable String channelOf(@Nullable WakeUpSubscriber wakeUps) {
        return wakeUps == null ? null : wakeUps.channel();
    }

    static @Nullable String secretOf(AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        Long waiter = request.waiterNumber();
        return wakeUps == null || waiter == null ? null : wakeUps.secretOf(waiter);
    }
}
