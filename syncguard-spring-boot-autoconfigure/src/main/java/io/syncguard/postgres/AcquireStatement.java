package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One attempt to acquire a key: by a caller who does not wait, by a waiter, and the last one of a waiter. */
final class AcquireStatement {

    private static final String ACQUIRE = """
            SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms, held_by, held_since_ms, held_by_others
            FROM ${syncguard_locks}_acquire(?, ?, ?, ?, ?)
            """;

    private static final String ACQUIRE_OR_QUEUE =
            ACQUIRE.replace("_acquire(?, ?, ?, ?, ?)", "_acquire_queue(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    private static final String ACQUIRE_OR_LEAVE = ACQUIRE.replace("_acquire(", "_acquire_leave(");

    private final String acquire;
    private final String acquireOrQueue;
    private final String acquireOrLeave;
    private final Duration waiterTtl;

    AcquireStatement(PostgresSettings settings) {
        this.acquire = settings.tables().fill(ACQUIRE);
        this.acquireOrQueue = settings.tables().fill(ACQUIRE_OR_QUEUE);
        this.acquireOrLeave = settings.tables().fill(ACQUIRE_OR_LEAVE);
        this.waiterTtl = settings.waiterTtl();
    }

    /** @param wakeUps where this process is woken; {@code null} where its waiters poll */
    AcquireResult run(PostgresConnections connections, AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        Long waiter = request.waiter();
        return connections.query(
                "acquiring lock '" + request.key() + "'",
                request.ttl(),
                waiter != null ? acquireOrQueue : request.queued() ? acquireOrLeave : acquire,
                (connection, statement) -> {
                    bind(statement, request);
                    if (waiter != null) {
                        bindQueueEntry(statement, request, waiter, wakeUps);
                    }
                },
                rows -> read(rows, request));
    }

    /**
     * A key is stored as it is, unlike in Redis: it has at most 512 bytes, and an index entry may have 2700.
     */
    private static void bind(PreparedStatement statement, AcquireRequest request) throws SQLException {
        statement.setString(1, request.key());
        statement.setBoolean(2, request.mode() == LockMode.SHARED);
        statement.setString(3, request.lockId());
        statement.setLong(4, request.ttl().toMillis());
        statement.setString(5, request.owner());
    }

    private void bindQueueEntry(
            PreparedStatement statement, AcquireRequest request, long waiter, @Nullable WakeUpSubscriber wakeUps)
            throws SQLException {
        statement.setBoolean(6, request.queued());
        statement.setLong(7, waiter);
        statement.setLong(8, waiterTtl.toMillis());
        statement.setBoolean(9, request.handOver() && wakeUps != null);
        statement.setString(10, wakeUps == null ? null : wakeUps.channel());
        statement.setString(11, wakeUps == null ? null : wakeUps.secretOf(waiter));
    }

    private static AcquireResult read(ResultSet rows, AcquireRequest request) throws SQLException {
        rows.next();
        long fence = rows.getLong(1);
        if (rows.wasNull()) {
            Duration timeLeft = Duration.ofMillis(rows.getLong(4));
            return request.waiter() == null
                    ? new AcquireResult.Refused(timeLeft, holder(rows))
                    : new AcquireResult.Queued(timeLeft, holder(rows));
        }
        if (fence == 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + request.key() + "' has no fences left: its counter is at " + Fence.MAX_VALUE
                            + ". Use another key",
                    null);
        }
        return new AcquireResult.Granted(
                new Fence(fence), Instant.ofEpochMilli(rows.getLong(2)), Instant.ofEpochMilli(rows.getLong(3)));
    }

    private static AcquireResult.@Nullable Holder holder(ResultSet rows) throws SQLException {
        long since = rows.getLong(6);
        if (rows.wasNull()) {
            return null;
        }
        String owner = rows.getString(5);
        return new AcquireResult.Holder(owner == null ? "" : owner, Instant.ofEpochMilli(since), !rows.getBoolean(7));
    }
}
