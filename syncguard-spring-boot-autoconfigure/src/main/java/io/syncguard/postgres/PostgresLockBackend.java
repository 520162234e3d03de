package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.core.Attempt;
import io.syncguard.core.Claim;
import io.syncguard.core.ExtendOutcome;
import io.syncguard.core.Extension;
import io.syncguard.core.LockBackend;
import io.syncguard.core.ReleaseOutcome;
import io.syncguard.core.StorageKeys;
import io.syncguard.core.Time;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Locks in two tables of a PostgreSQL database. Each operation calls one function of {@code R__syncguard_schema.sql}, or is
 * one query: one statement in autocommit, one round trip.
 */
public final class PostgresLockBackend implements LockBackend {

    /** A B-tree entry has room for about 2700 bytes. */
    private static final StorageKeys STORAGE_KEYS = new StorageKeys("", 1700, 0);

    /** An instance of version 1 that starts again may have its Flyway put the functions of that version back. */
    private static final String ANSWER_OF_VERSION_1 = "not_held";

    private static final String ACQUIRE = """
            SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms
            FROM ${syncguard_locks}_acquire(?, ?, ?, ?, ?, ?)
            """;

    private static final String EXTEND = """
            SELECT outcome, extended_until_ms
            FROM ${syncguard_locks}_extend(?, ?)
            """;

    private static final String RELEASE = """
            SELECT ${syncguard_locks}_release(?)
            """;

    private static final String IS_LOCKED = """
            SELECT expires_at_ms > ${syncguard_locks}_now() - 1000
            FROM ${syncguard_locks}
            WHERE key = ?
            """;

    private static final String LOOKUP = """
            SELECT user_key, lock_id, acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}
            WHERE key = ? AND expires_at_ms > ${syncguard_locks}_now() - 1000
            """;

    private static final String LOOKUP_BY_ID = """
            SELECT user_key, lock_id, acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}
            WHERE lock_id = ? AND expires_at_ms > ${syncguard_locks}_now() - 1000
            """;

    private final PostgresConnections connections;
    private final PostgresConnections heartbeatConnections;
    private final PostgresSweeper sweeper;
    private final Duration timeout;
    private final Runnable onClose;

    private final String acquire;
    private final String extend;
    private final String release;
    private final String isLocked;
    private final String lookup;
    private final String lookupById;

    /**
     * @param dataSource connections in autocommit, for everything but extensions
     * @param heartbeatDataSource connections in autocommit, for extensions: they must not queue behind acquisitions
     * @param settings names and times
     * @param onClose closes the two pools, if they are to be closed
     */
    public PostgresLockBackend(
            DataSource dataSource, DataSource heartbeatDataSource, PostgresSettings settings, Runnable onClose) {
        this(dataSource, heartbeatDataSource, settings, onClose, Time.SYSTEM);
    }

    PostgresLockBackend(
            DataSource dataSource,
            DataSource heartbeatDataSource,
            PostgresSettings settings,
            Runnable onClose,
            Time time) {
        this.timeout = settings.timeout();
        this.connections = new PostgresConnections(dataSource, timeout);
        this.heartbeatConnections = new PostgresConnections(heartbeatDataSource, timeout);
        this.sweeper = new PostgresSweeper(connections, settings, time);
        this.onClose = onClose;
        PostgresTables tables = settings.tables();
        this.acquire = tables.fill(ACQUIRE);
        this.extend = tables.fill(EXTEND);
        this.release = tables.fill(RELEASE);
        this.isLocked = tables.fill(IS_LOCKED);
        this.lookup = tables.fill(LOOKUP);
        this.lookupById = tables.fill(LOOKUP_BY_ID);
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public Attempt acquire(Claim claim) {
        return connections.query(
                "acquiring lock '" + claim.key() + "'",
                claim.ttl(),
                acquire,
                (connection, statement) -> {
                    statement.setString(1, STORAGE_KEYS.of(claim.key()));
                    statement.setString(2, STORAGE_KEYS.fenceOf(claim.key()));
                    statement.setString(3, claim.lockId());
                    statement.setLong(4, claim.ttl().toMillis());
                    statement.setString(5, claim.key());
                    statement.setString(6, claim.owner());
                },
                rows -> readAttempt(rows, claim.key()));
    }

    @Override
    public ReleaseOutcome release(String lockId) {
        return connections.query(
                "releasing a lock", release, (connection, statement) -> statement.setString(1, lockId), rows -> {
                    rows.next();
                    return switch (rows.getString(1)) {
                        case "released" -> ReleaseOutcome.RELEASED;
                        case "busy" -> ReleaseOutcome.BUSY;
                        case "expired" -> ReleaseOutcome.EXPIRED;
                        case "not_found", ANSWER_OF_VERSION_1 -> ReleaseOutcome.NOT_FOUND;
                        default -> throw new IllegalStateException("An unknown answer to a release");
                    };
                });
    }

    @Override
    public List<ExtendOutcome> extend(List<Extension> extensions) {
        Object[] lockIds = extensions.stream().map(Extension::lockId).toArray();
        Object[] ttls = extensions.stream().map(each -> each.ttl().toMillis()).toArray();
        Duration shortest = extensions.stream()
                .map(Extension::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return heartbeatConnections.query(
                "extending " + extensions.size() + " lock(s)",
                shortest,
                extend,
                (connection, statement) -> {
                    statement.setArray(1, connection.createArrayOf("text", lockIds));
                    statement.setArray(2, connection.createArrayOf("bigint", ttls));
                },
                rows -> readOutcomes(rows, extensions.size()));
    }

    @Override
    public boolean isLocked(String key) {
        String storageKey = STORAGE_KEYS.of(key);
        Optional<Boolean> live = connections.query(
                "looking at lock '" + key + "'",
                isLocked,
                (connection, statement) -> statement.setString(1, storageKey),
                rows -> rows.next() ? Optional.of(rows.getBoolean(1)) : Optional.empty());
        if (live.isPresent() && !live.get()) {
            sweeper.meet(storageKey);
        }
        return live.orElse(false);
    }

    @Override
    public Optional<RawLockInfo> lookup(String key) {
        return connections.query(
                "looking up lock '" + key + "'",
                lookup,
                (connection, statement) -> statement.setString(1, STORAGE_KEYS.of(key)),
                PostgresLockBackend::readInfo);
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return connections.query(
                "looking up a lock by its id",
                lookupById,
                (connection, statement) -> statement.setString(1, lockId),
                PostgresLockBackend::readInfo);
    }

    /**
     * The server ends a statement by itself in less than the timeout; the rest is for the way there. A commit that waits for a
     * synchronous standby may take longer: such a grant stays until its ttl is over.
     */
    @Override
    public Duration settlingTime() {
        return timeout.multipliedBy(2);
    }

    @Override
    public void close() {
        sweeper.close();
        onClose.run();
    }

    private static Attempt readAttempt(ResultSet rows, String key) throws SQLException {
        rows.next();
        long fence = rows.getLong(1);
        if (rows.wasNull()) {
            return new Attempt.Refusal(Duration.ofMillis(rows.getLong(4)));
        }
        if (fence == 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + key + "' has no fences left: its counter is at " + Fence.MAX_VALUE + ". Use another key",
                    null);
        }
        return new Attempt.Grant(
                new Fence(fence), Instant.ofEpochMilli(rows.getLong(2)), Instant.ofEpochMilli(rows.getLong(3)));
    }

    private static List<ExtendOutcome> readOutcomes(ResultSet rows, int asked) throws SQLException {
        List<ExtendOutcome> outcomes = new ArrayList<>();
        while (rows.next()) {
            outcomes.add(
                    switch (rows.getString(1)) {
                        case "extended" -> new ExtendOutcome.Extended(Instant.ofEpochMilli(rows.getLong(2)));
                        case "busy" -> new ExtendOutcome.Busy();
                        case "expired" -> new ExtendOutcome.Expired();
                        case "not_found", ANSWER_OF_VERSION_1 -> new ExtendOutcome.NotFound();
                        default -> throw new IllegalStateException("An unknown answer to an extension");
                    });
        }
        if (outcomes.size() != asked) {
            throw new IllegalStateException(asked + " extensions got " + outcomes.size() + " answers");
        }
        return outcomes;
    }

    private static Optional<RawLockInfo> readInfo(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            return Optional.empty();
        }
        String owner = rows.getString("owner");
        return Optional.of(new RawLockInfo(
                rows.getString("user_key"),
                rows.getString("lock_id"),
                LockMode.EXCLUSIVE,
                Instant.ofEpochMilli(rows.getLong("acquired_at_ms")),
                Instant.ofEpochMilli(rows.getLong("expires_at_ms")),
                new Fence(Long.parseLong(rows.getString("fence"))),
                owner == null ? "" : owner));
    }
}
