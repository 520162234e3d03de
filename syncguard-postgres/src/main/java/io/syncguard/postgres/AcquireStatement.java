package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends attempts to acquire a key: the only attempt of a caller who does not wait, the attempts of a waiter, and the
 * last one of a waiter. A batch sends many attempts at once.
 */
final class AcquireStatement {

    private static final String ANSWER = """
            SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms, held_by, held_since_ms, held_by_others,
                   held_lapsed, request_position
            FROM \
            """;

    private static final String ACQUIRE = ANSWER + """
            ${syncguard_locks}_acquire(?::TEXT, ?::BOOLEAN, ?::INTEGER, ?::TEXT, ?::BIGINT, ?::TEXT, ?::BOOLEAN,
                ?::BIGINT, ?::BIGINT, ?::BOOLEAN, ?::TEXT, ?::TEXT, NULL::BIGINT)
            """;

    private static final String BATCH = ANSWER + """
            ${syncguard_locks}_acquire_batch(?::TEXT[], ?::TEXT[], ?::BIGINT[], ?::TEXT[], ?::BOOLEAN[],
                ?::BIGINT[], ?::TEXT[], ?::BOOLEAN[], ?::BIGINT, ?::TEXT, false, NULL::INTEGER[])
            """;

    private static final String READERS = ANSWER + """
            ${syncguard_locks}_acquire_readers(?::TEXT[], ?::INTEGER[], ?::TEXT[], ?::BIGINT[], ?::TEXT[],
                ?::BOOLEAN[], ?::BIGINT[], ?::TEXT[], ?::BOOLEAN[], ?::BIGINT, ?::TEXT)
            """;

    private static final String TOGETHER = ANSWER + """
            ${syncguard_locks}_acquire_together(?::TEXT[], ?::BOOLEAN[], ?::INTEGER[], ?::TEXT[], ?::BIGINT[],
                ?::TEXT[], ?::TEXT)
            """;

    private static final String ACQUIRE_FREE = """
            SELECT ${syncguard_locks}_acquire_free(?::TEXT, ?::TEXT, ?::BIGINT, ?::TEXT)
            """;

    private static final String FREE_BATCH = """
            SELECT ${syncguard_locks}_acquire_free_batch(?::TEXT[], ?::TEXT[], ?::BIGINT[], ?::TEXT[])
            """;

    private final String acquire;
    private final String acquireFree;
    private final String batch;
    private final String freeBatch;
    private final String readers;
    private final String together;
    private final Duration waiterTtl;

    AcquireStatement(PostgresSettings settings) {
        this.acquire = settings.tables().fill(ACQUIRE);
        this.acquireFree = settings.tables().fill(ACQUIRE_FREE);
        this.batch = settings.tables().fill(BATCH);
        this.freeBatch = settings.tables().fill(FREE_BATCH);
        this.readers = settings.tables().fill(READERS);
        this.together = settings.tables().fill(TOGETHER);
        this.waiterTtl = settings.waiterTtl();
    }

    /**
     * Sends one attempt, if the key is probably free by a statement that is cheaper, and can only grant.
     *
     * @param contended whether the key probably has a holder or waiters; a wrong guess costs a round trip
     * @param wakeUps receives the wake-ups of this process; {@code null} if its waiters poll
     */
    AcquireResult run(
            PostgresConnections connections,
            AcquireRequest request,
            boolean contended,
            @Nullable WakeUpSubscriber wakeUps) {
        boolean isProbablyFree =
                !contended && !request.queued() && request.options().mode() == LockMode.EXCLUSIVE;
        return (isProbablyFree ? free(connections, request) : Optional.<AcquireResult>empty())
                .orElseGet(() -> connections.query(
                        "acquiring lock '" + request.key() + "'",
                        request.options().ttl(),
                        acquire,
                        (connection, statement) -> bind(statement, request, wakeUps),
                        rows -> {
                            rows.next();
                            return read(rows, request);
                        }));
    }

    private Optional<AcquireResult> free(PostgresConnections connections, AcquireRequest request) {
        return connections.query(
                "acquiring lock '" + request.key() + "'",
                request.options().ttl(),
                acquireFree,
                (connection, statement) -> {
                    statement.setString(1, request.key());
                    statement.setString(2, request.lockId());
                    statement.setLong(3, request.options().ttl().toMillis());
                    statement.setString(4, request.options().owner());
                },
                rows -> {
                    rows.next();
                    Array answer = rows.getArray(1);
                    if (answer == null) {
                        return Optional.empty();
                    }
                    Long[] grant = (Long[]) answer.getArray();
                    return Optional.of(granted(grant[0], grant[1], grant[2]));
                });
    }

    /**
     * Sends many attempts in one round trip. The statement never waits for a serialising row. An error means that the
     * batch had no effect, unless the answer was lost.
     *
     * @param requests all with the same mode and the same {@linkplain PostgresConnections#networkTimeout network
     *     timeout}; those of one key in the order of their arrival
     * @return the answers in the order of the requests; undecided if it would have to wait for a locked row
     */
    List<AcquireResult> batch(
            PostgresConnections connections, List<AcquireRequest> requests, @Nullable WakeUpSubscriber wakeUps) {
        boolean shared = requests.get(0).options().mode() == LockMode.SHARED;
        return connections.query(
                "acquiring " + requests.size() + " lock(s)",
                requests.get(0).options().ttl(),
                shared ? readers : batch,
                (connection, statement) -> {
                    RequestArrays arrays = new RequestArrays(connection, requests, wakeUps);
                    int parameter = 1;
                    statement.setArray(parameter++, arrays.keys());
                    if (shared) {
                        statement.setArray(parameter++, arrays.permits());
                    }
                    statement.setArray(parameter++, arrays.lockIds());
                    statement.setArray(parameter++, arrays.ttls());
                    statement.setArray(parameter++, arrays.owners());
                    statement.setArray(parameter++, arrays.queued());
                    statement.setArray(parameter++, arrays.waiters());
                    statement.setArray(parameter++, arrays.secrets());
                    statement.setArray(parameter++, arrays.handOvers());
                    statement.setLong(parameter++, waiterTtl.toMillis());
                    statement.setString(parameter, RequestArrays.channelOf(wakeUps));
                },
                rows -> readBatch(rows, requests));
    }

    /**
     * Sends exclusive attempts of callers who have not queued, whose keys are different and probably free. Each that is
     * not granted has to be sent alone.
     */
    List<AcquireResult> freeBatch(PostgresConnections connections, List<AcquireRequest> requests) {
        return connections.query(
                "acquiring " + requests.size() + " lock(s)",
                requests.get(0).options().ttl(),
                freeBatch,
                (connection, statement) -> {
                    RequestArrays arrays = new RequestArrays(connection, requests, null);
                    statement.setArray(1, arrays.keys());
                    statement.setArray(2, arrays.lockIds());
                    statement.setArray(3, arrays.ttls());
                    statement.setArray(4, arrays.owners());
                },
                rows -> readFreeBatch(rows, requests.size()));
    }

    /** Sends the attempts of one caller for several keys, which the server decides in one step. */
    List<AcquireResult> together(PostgresConnections connections, List<AcquireRequest> requests, GrantExtent extent) {
        Duration shortest = requests.stream()
                .map(request -> request.options().ttl())
                .min(Comparator.naturalOrder())
                .orElseThrow();
        return connections.query(
                "acquiring lock '" + requests.get(0).key() + "' and others",
                shortest,
                together,
                (connection, statement) -> {
                    RequestArrays arrays = new RequestArrays(connection, requests, null);
                    statement.setArray(1, arrays.keys());
                    statement.setArray(2, arrays.shared());
                    statement.setArray(3, arrays.permits());
                    statement.setArray(4, arrays.lockIds());
                    statement.setArray(5, arrays.ttls());
                    statement.setArray(6, arrays.owners());
                    statement.setString(7, extent.name());
                },
                rows -> readBatch(rows, requests));
    }

    /** Stores a key unchanged, unlike Redis: it has at most 512 bytes, and an index entry may have 2700. */
    private void bind(PreparedStatement statement, AcquireRequest request, @Nullable WakeUpSubscriber wakeUps)
            throws SQLException {
        statement.setString(1, request.key());
        statement.setBoolean(2, request.options().mode() == LockMode.SHARED);
        statement.setObject(3, RequestArrays.permitsOf(request), Types.INTEGER);
        statement.setString(4, request.lockId());
        statement.setLong(5, request.options().ttl().toMillis());
        statement.setString(6, request.options().owner());
        statement.setBoolean(7, request.queued());
        statement.setObject(8, request.waiterNumber(), Types.BIGINT);
        statement.setLong(9, waiterTtl.toMillis());
        statement.setBoolean(10, RequestArrays.handsOver(request, wakeUps));
        statement.setString(11, RequestArrays.channelOf(wakeUps));
        statement.setString(12, RequestArrays.secretOf(request, wakeUps));
    }

    private static List<AcquireResult> readBatch(ResultSet rows, List<AcquireRequest> requests) throws SQLException {
        List<AcquireResult> results = undecided(requests.size());
        while (rows.next()) {
            int index = rows.getInt(9) - 1;
            results.set(index, read(rows, requests.get(index)));
        }
        return results;
    }

    private static List<AcquireResult> readFreeBatch(ResultSet rows, int requests) throws SQLException {
        List<AcquireResult> results = undecided(requests);
        rows.next();
        Array granted = rows.getArray(1);
        if (granted != null) {
            for (Long[] grant : (Long[][]) granted.getArray()) {
                results.set(grant[0].intValue() - 1, granted(grant[1], grant[2], grant[3]));
            }
        }
        return results;
    }

    private static List<AcquireResult> undecided(int size) {
        return new ArrayList<>(Collections.nCopies(size, AcquireResult.Undecided.UNDECIDED));
    }

    private static AcquireResult read(ResultSet rows, AcquireRequest request) throws SQLException {
        long fence = rows.getLong(1);
        if (rows.wasNull()) {
            Duration timeLeft = Duration.ofMillis(rows.getLong(4));
            return request.waiterNumber() == null
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
        return granted(fence, rows.getLong(2), rows.getLong(3));
    }

    static AcquireResult.Granted granted(long fence, long atMillis, long untilMillis) {
        return new AcquireResult.Granted(
                new Fence(fence), Instant.ofEpochMilli(atMillis), Instant.ofEpochMilli(untilMillis));
    }

    private static AcquireResult.@Nullable Holder holder(ResultSet rows) throws SQLException {
        long since = rows.getLong(6);
        if (rows.wasNull()) {
            return null;
        }
        String owner = rows.getString(5);
        return new AcquireResult.Holder(
                owner == null ? "" : owner, Instant.ofEpochMilli(since), !rows.getBoolean(7), rows.getBoolean(8));
    }
}
