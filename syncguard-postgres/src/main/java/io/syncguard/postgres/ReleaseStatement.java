package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Releases leases and leaves queues: one with a hand-over, many at once without, a batch of callers, one before its
 * {@code holdAtLeast} is over, and those of a key by force.
 */
final class ReleaseStatement {

    /** The placeholder says whether it commits by itself: no procedure can inside a transaction. */
    private static final String RELEASE = """
            CALL ${syncguard_locks}_hand_over(?::TEXT, ?::TEXT, ?::TEXT, %s, ?::BIGINT, NULL::TEXT, NULL::BIGINT[])
            """;

    private static final String RELEASE_UNAWAITED = """
            SELECT ${syncguard_locks}_delete_lease(?::TEXT, ?::TEXT, false)
            """;

    /** The placeholder is the same. */
    private static final String QUEUE_AND_RELEASE = """
            CALL ${syncguard_locks}_queue_and_hand_over(?::TEXT, ?::TEXT, %s, ?::TEXT, ?::TEXT[], ?::BOOLEAN[],
                ?::INTEGER[], ?::TEXT[], ?::BIGINT[], ?::TEXT[], ?::BOOLEAN[], ?::BIGINT, NULL::TEXT,
                NULL::BIGINT[], NULL::BOOLEAN)
            """;

    private static final String RELEASE_ALL = """
            SELECT outcome
            FROM ${syncguard_locks}_release_all(?::TEXT[])
            """;

    private static final String BATCH = """
            SELECT released_lock_id, handed_over
            FROM ${syncguard_locks}_release_batch(?::TEXT[], ?::TEXT)
            """;

    private static final String RELEASE_AFTER = """
            SELECT ${syncguard_locks}_release_after(?::TEXT, ?::BIGINT)
            """;

    private static final String FORCE = """
            SELECT released, user_key, lock_id, mode, acquired_at_ms, expires_at_ms, fence, owner, drawn_fence
            FROM ${syncguard_locks}_force_release(?::TEXT, ?::BIGINT)
            """;

    private final String release;
    private final String releaseInTransaction;
    private final String releaseUnawaited;
    private final String queueAndRelease;
    private final String queueAndReleaseInTransaction;
    private final String releaseAll;
    private final String batch;
    private final String releaseAfter;
    private final String force;
    private final Duration waiterTtl;

    ReleaseStatement(PostgresSettings settings) {
        PostgresTables tables = settings.tables();
        this.release = tables.fill(RELEASE.formatted(true));
        this.releaseInTransaction = tables.fill(RELEASE.formatted(false));
        this.releaseUnawaited = tables.fill(RELEASE_UNAWAITED);
        this.queueAndRelease = tables.fill(QUEUE_AND_RELEASE.formatted(true));
        this.queueAndReleaseInTransaction = tables.fill(QUEUE_AND_RELEASE.formatted(false));
        this.releaseAll = tables.fill(RELEASE_ALL);
        this.batch = tables.fill(BATCH);
        this.releaseAfter = tables.fill(RELEASE_AFTER);
        this.force = tables.fill(FORCE);
        this.waiterTtl = settings.waiterTtl();
    }

    /**
     * Releases a lease if nobody waits for its key.
     *
     * @param id with its key
     * @return whether it did; otherwise {@link #run} has to answer
     */
    boolean unawaited(PostgresConnections connections, KeyedLockId id) {
        return connections.query(
                "releasing a lock",
                releaseUnawaited,
                (connection, statement) -> {
                    statement.setString(1, id.key());
                    statement.setString(2, id.lockId());
                },
                rows -> {
                    rows.next();
                    return rows.getBoolean(1);
                });
    }

    /**
     * @param awaited whether somebody probably waits for the key; a wrong guess costs time only
     * @param wakeUps where this process is woken; {@code null} where its waiters poll
     */
    ReleaseResult run(
            PostgresConnections connections, KeyedLockId id, boolean awaited, @Nullable WakeUpSubscriber wakeUps) {
        return connections.query(
                "releasing a lock",
                release,
                releaseInTransaction,
                (connection, statement) -> {
                    statement.setString(1, id.key());
                    statement.setString(2, id.lockId());
                    statement.setString(3, RequestArrays.channelOf(wakeUps));
                    statement.setObject(4, awaited ? 0L : null, Types.BIGINT);
                },
                ReleaseStatement::handedOver);
    }

    /**
     * Lets callers without queue entries enter the queue of a key, and then releases a lease of the key.
     *
     * @param requests for one key, of callers who wait, in the order of their arrival
     * @param wakeUps where this process is woken; {@code null} where its waiters poll
     */
    ReleaseResult runAndQueue(
            PostgresConnections connections,
            String lockId,
            List<AcquireRequest> requests,
            @Nullable WakeUpSubscriber wakeUps) {
        return connections.query(
                "releasing a lock",
                queueAndRelease,
                queueAndReleaseInTransaction,
                (connection, statement) -> {
                    statement.setString(1, lockId);
                    statement.setString(2, RequestArrays.channelOf(wakeUps));
                    statement.setString(3, requests.get(0).key());
                    int next = new RequestArrays(connection, requests, wakeUps).setEntries(statement, 4);
                    statement.setLong(next, waiterTtl.toMillis());
                },
                rows -> {
                    ReleaseResult result = handedOver(rows);
                    return new ReleaseResult(result.outcome(), result.handOvers(), rows.getBoolean("queued"));
                });
    }

    private static ReleaseResult handedOver(ResultSet rows) throws SQLException {
        return withHandOvers(only(rows), rows);
    }

    private static ReleaseResult withHandOvers(ReleaseResult result, ResultSet rows) throws SQLException {
        Array handedOver = rows.getArray(2);
        if (handedOver == null) {
            return result;
        }
        Long[] next = (Long[]) handedOver.getArray();
        List<HandOver> handOvers = new ArrayList<>();
        for (int i = 0; i < next.length; i += 4) {
            handOvers.add(new HandOver(next[i], AcquireStatement.granted(next[i + 1], next[i + 2], next[i + 3])));
        }
        return new ReleaseResult(result.outcome(), handOvers);
    }

    List<ReleaseResult> all(PostgresConnections connections, List<String> lockIds) {
        return connections.query(
                "releasing " + lockIds.size() + " lock(s)",
                releaseAll,
                (connection, statement) ->
                        statement.setArray(1, connection.createArrayOf("text", lockIds.toArray(String[]::new))),
                rows -> PostgresRows.oneForEach(lockIds.size(), rows, ReleaseStatement::outcome));
    }

    /**
     * Releases, in one round trip, the live leases of keys without waiters, and the live shared leases of keys whose
     * first waiter is no reader. The statement waits for no locked row. An error means that the batch had no
     * effect, unless the answer was lost.
     *
     * @param wakeUps receives the wake-ups of this process; {@code null} if its waiters poll, or for hand-overs by
     *     messages
     * @return in the order of the lock ids, {@code RELEASED}; {@code UNDECIDED} for one that has to be sent alone, such
     *     as the second of two equal ones
     */
    List<ReleaseResult> batch(
            PostgresConnections connections, List<String> lockIds, @Nullable WakeUpSubscriber wakeUps) {
        Map<String, ReleaseResult> released = connections.query(
                "releasing " + lockIds.size() + " lock(s)",
                batch,
                (connection, statement) -> {
                    statement.setArray(1, connection.createArrayOf("text", lockIds.toArray(String[]::new)));
                    statement.setString(2, RequestArrays.channelOf(wakeUps));
                },
                ReleaseStatement::released);
        List<ReleaseResult> results = new ArrayList<>();
        for (String lockId : lockIds) {
            ReleaseResult result = released.remove(lockId);
            results.add(result == null ? ReleaseResult.UNDECIDED : result);
        }
        return results;
    }

    private static Map<String, ReleaseResult> released(ResultSet rows) throws SQLException {
        Map<String, ReleaseResult> released = new HashMap<>();
        while (rows.next()) {
            released.put(rows.getString(1), withHandOvers(ReleaseResult.RELEASED, rows));
        }
        return released;
    }

    ReleaseResult after(PostgresConnections connections, String lockId, Duration held) {
        return connections.query(
                "releasing a lock",
                releaseAfter,
                (connection, statement) -> {
                    statement.setString(1, lockId);
                    statement.setLong(2, held.toMillis());
                },
                ReleaseStatement::only);
    }

    /** @param only the fence of the only lease to end; {@code null} for all */
    ForcedRelease force(PostgresConnections connections, String key, @Nullable Fence only) {
        return connections.query(
                "releasing lock '" + key + "' by force",
                force,
                (connection, statement) -> {
                    statement.setString(1, key);
                    statement.setObject(2, only == null ? null : only.value(), Types.BIGINT);
                },
                rows -> forced(rows, key));
    }

    private static ForcedRelease forced(ResultSet rows, String key) throws SQLException {
        List<LockInfo> released = new ArrayList<>();
        List<LockInfo> remaining = new ArrayList<>();
        long fence = 0;
        while (rows.next()) {
            LockInfo lease = Hashes.abbreviated(LookupStatement.info(rows));
            (rows.getBoolean("released") ? released : remaining).add(lease);
            fence = rows.getLong("drawn_fence");
        }
        return new ForcedRelease(key, released, remaining, fence == 0 ? null : new Fence(fence));
    }

    private static ReleaseResult only(ResultSet rows) throws SQLException {
        rows.next();
        return outcome(rows);
    }

    private static ReleaseResult outcome(ResultSet rows) throws SQLException {
        return switch (rows.getString(1)) {
            case "released" -> ReleaseResult.RELEASED;
            case "left" -> ReleaseResult.LEFT;
            case "busy" -> ReleaseResult.BUSY;
            case "expired" -> ReleaseResult.EXPIRED;
            case "not_found" -> ReleaseResult.NOT_FOUND;
            default -> throw new IllegalStateException("An unknown answer to a release");
        };
    }
}
