package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StorageKeys;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks in the tables of a PostgreSQL database. Each operation calls one function of {@code R__syncguard_schema.sql}, or is
 * one query: one statement in autocommit, one round trip.
 */
public final class PostgresLockBackend implements LockBackend {

    /** A B-tree entry has room for about 2700 bytes. */
    private static final StorageKeys STORAGE_KEYS = new StorageKeys("", 1700, 0);

    private static final String ACQUIRE = """
            SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms, held_by, held_since_ms, held_by_others
            FROM ${syncguard_locks}_claim(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """;

    private static final String RENEW_WAITERS = """
            SELECT time_left_ms
            FROM ${syncguard_locks}_keep(?, ?)
            """;

    private static final String EXTEND = """
            SELECT outcome, extended_until_ms
            FROM ${syncguard_locks}_extend(?, ?)
            """;

    private static final String ROTATE = """
            SELECT outcome, rotated_until_ms, rotated_fence
            FROM ${syncguard_locks}_rotate(?, ?)
            """;

    private static final String RELEASE = """
            CALL ${syncguard_locks}_hand_over(?, NULL)
            """;

    /** Where a transaction is around it, no procedure can commit: the notification goes out with the hand-over. */
    private static final String RELEASE_IN_TRANSACTION = """
            SELECT r.outcome, CASE WHEN r.channel IS NOT NULL THEN pg_notify(r.channel, r.message) END
            FROM ${syncguard_locks}_release(?, true) r
            """;

    private static final String RELEASE_ALL = """
            SELECT outcome
            FROM ${syncguard_locks}_release_all(?)
            """;

    private static final String RELEASE_AFTER = """
            SELECT ${syncguard_locks}_release_after(?, ?)
            """;

    private static final String IS_LOCKED = """
            SELECT greatest(
                (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.key = ?),
                (SELECT max(s.expires_at_ms) FROM ${syncguard_locks}_shared s WHERE s.key = ?)
            ) > ${syncguard_locks}_now() - 1000
            """;

    private static final String LOOKUP = """
            SELECT user_key, lock_id, 'EXCLUSIVE' AS mode, acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}
            WHERE key = ? AND expires_at_ms > ${syncguard_locks}_now() - 1000
            UNION ALL
            SELECT user_key, lock_id, 'SHARED', acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}_shared
            WHERE key = ? AND expires_at_ms > ${syncguard_locks}_now() - 1000
            ORDER BY fence
            """;

    private static final String LOOKUP_BY_ID = LOOKUP.replace("WHERE key = ?", "WHERE lock_id = ?");

    private final PostgresConnections connections;
    private final PostgresConnections engineConnections;
    private final PostgresSweeper sweeper;
    private final @Nullable DataSource wakeUpDataSource;
    private final PostgresSettings settings;
    private final Time time;
    private final Runnable onClose;

    /** Set before the first claim; null where nothing is heard. */
    private volatile @Nullable WakeUpSubscriber wakeUps;

    private final String acquire;
    private final String renewWaiters;
    private final String extend;
    private final String rotate;
    private final String release;
    private final String releaseInTransaction;
    private final String releaseAll;
    private final String releaseAfter;
    private final String isLocked;
    private final String lookup;
    private final String lookupById;

    /**
     * @param dataSource connections in autocommit, for what callers ask
     * @param engineDataSource connections in autocommit, one for each operation that the threads of the engine send: heartbeats,
     *     looks of waiters and late releases wait neither for callers nor for each other
     * @param wakeUpDataSource a connection in autocommit, to be kept for wake-ups from the first wait on; {@code null} to have
     *     waiters ask again and again
     * @param settings names and times
     * @param onClose closes the pools, if they are to be closed
     */
    public PostgresLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            @Nullable DataSource wakeUpDataSource,
            PostgresSettings settings,
            Runnable onClose) {
        this(dataSource, engineDataSource, wakeUpDataSource, settings, onClose, Time.SYSTEM);
    }

    PostgresLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            @Nullable DataSource wakeUpDataSource,
            PostgresSettings settings,
            Runnable onClose,
            Time time) {
        this.settings = settings;
        this.time = time;
        this.connections = new PostgresConnections(dataSource, settings.timeout());
        this.engineConnections = new PostgresConnections(engineDataSource, settings.timeout());
        this.wakeUpDataSource = wakeUpDataSource;
        this.sweeper = new PostgresSweeper(connections, settings, time);
        this.onClose = onClose;
        PostgresTables tables = settings.tables();
        this.acquire = tables.fill(ACQUIRE);
        this.renewWaiters = tables.fill(RENEW_WAITERS);
        this.extend = tables.fill(EXTEND);
        this.rotate = tables.fill(ROTATE);
        this.release = tables.fill(RELEASE);
        this.releaseInTransaction = tables.fill(RELEASE_IN_TRANSACTION);
        this.releaseAll = tables.fill(RELEASE_ALL);
        this.releaseAfter = tables.fill(RELEASE_AFTER);
        this.isLocked = tables.fill(IS_LOCKED);
        this.lookup = tables.fill(LOOKUP);
        this.lookupById = tables.fill(LOOKUP_BY_ID);
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public AcquireResult acquire(AcquireRequest claim) {
        AcquireResult attempt = connections.query(
                "acquiring lock '" + claim.key() + "'",
                claim.ttl(),
                acquire,
                (connection, statement) -> {
                    statement.setString(1, STORAGE_KEYS.of(claim.key()));
                    statement.setString(2, STORAGE_KEYS.fenceOf(claim.key()));
                    statement.setBoolean(3, claim.mode() == LockMode.SHARED);
                    statement.setString(4, claim.lockId());
                    statement.setLong(5, claim.ttl().toMillis());
                    statement.setString(6, claim.key());
                    statement.setString(7, claim.owner());
                    statement.setBoolean(8, claim.queued());
                    bindPlace(statement, claim);
                },
                rows -> PostgresAnswers.attempt(rows, claim));
        if (attempt instanceof AcquireResult.Queued && wakeUps != null) {
            wakeUps.start();
        }
        return attempt;
    }

    private void bindPlace(PreparedStatement statement, AcquireRequest claim) throws SQLException {
        Long waiter = claim.waiter();
        if (waiter == null) {
            statement.setNull(9, Types.BIGINT);
            statement.setNull(10, Types.BIGINT);
            statement.setNull(11, Types.VARCHAR);
            statement.setNull(12, Types.BIGINT);
            statement.setNull(13, Types.VARCHAR);
        } else {
            long waiterTtl = settings.waiterTtl().toMillis();
            WakeUpSubscriber heard = heard();
            statement.setLong(9, waiterTtl);
            statement.setObject(10, claim.handOver() && heard != null ? waiterTtl : null, Types.BIGINT);
            statement.setString(11, heard == null ? null : heard.channel());
            statement.setLong(12, waiter);
            statement.setString(13, heard == null ? null : heard.secretOf(waiter));
        }
    }

    /** Null where a waiter of this process cannot be told anything: nobody hands it a key. */
    private @Nullable WakeUpSubscriber heard() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isAvailable() ? current : null;
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        return engineConnections.query(
                "keeping " + lockIds.size() + " place(s) in the queue",
                settings.waiterTtl(),
                renewWaiters,
                (connection, statement) -> {
                    statement.setArray(1, connection.createArrayOf("text", lockIds.toArray()));
                    statement.setLong(2, settings.waiterTtl().toMillis());
                },
                rows -> PostgresAnswers.nextLooks(rows, lockIds.size()));
    }

    @Override
    public Duration waiterTtl() {
        return settings.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener engine) {
        if (wakeUpDataSource != null) {
            String channel = "syncguard_" + UUID.randomUUID();
            PostgresSessions sessions = new PostgresSessions(wakeUpDataSource, settings.timeout());
            wakeUps = new WakeUpSubscriber(
                    "PostgreSQL",
                    channel,
                    new PostgresSubscription(channel, sessions, engineConnections),
                    engine,
                    time);
        }
    }

    @Override
    public boolean isConnected() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isConnected();
    }

    @Override
    public ReleaseResult release(String lockId) {
        return connections.query(
                "releasing a lock",
                release,
                releaseInTransaction,
                (connection, statement) -> statement.setString(1, lockId),
                PostgresAnswers::release);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<String> lockIds) {
        return engineConnections.query(
                "releasing " + lockIds.size() + " lock(s)",
                releaseAll,
                (connection, statement) -> statement.setArray(1, connection.createArrayOf("text", lockIds.toArray())),
                rows -> PostgresAnswers.releases(rows, lockIds.size()));
    }

    @Override
    public ReleaseResult releaseAfter(String lockId, Duration held) {
        return connections.query(
                "releasing a lock",
                releaseAfter,
                (connection, statement) -> {
                    statement.setString(1, lockId);
                    statement.setLong(2, held.toMillis());
                },
                PostgresAnswers::release);
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        return extend(engineConnections, extensions);
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend(connections, List.of(extension)).get(0);
    }

    private List<ExtendResult> extend(PostgresConnections sender, List<ExtendRequest> extensions) {
        Object[] lockIds = extensions.stream().map(ExtendRequest::lockId).toArray();
        Object[] ttls = extensions.stream().map(each -> each.ttl().toMillis()).toArray();
        Duration shortest = extensions.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return sender.query(
                "extending " + extensions.size() + " lock(s)",
                shortest,
                extend,
                (connection, statement) -> {
                    statement.setArray(1, connection.createArrayOf("text", lockIds));
                    statement.setArray(2, connection.createArrayOf("bigint", ttls));
                },
                rows -> PostgresAnswers.extensions(rows, extensions.size()));
    }

    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        return connections.query(
                "taking the next fence for a lock",
                extension.ttl(),
                rotate,
                (connection, statement) -> {
                    statement.setString(1, extension.lockId());
                    statement.setLong(2, extension.ttl().toMillis());
                },
                PostgresAnswers::rotation);
    }

    @Override
    public boolean isLocked(String key) {
        String storageKey = STORAGE_KEYS.of(key);
        Optional<Boolean> live = connections.query(
                "looking at lock '" + key + "'",
                isLocked,
                (connection, statement) -> {
                    statement.setString(1, storageKey);
                    statement.setString(2, storageKey);
                },
                PostgresAnswers::isLocked);
        if (live.isPresent() && !live.get()) {
            sweeper.meet(storageKey);
        }
        return live.orElse(false);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return connections.query(
                "looking up lock '" + key + "'",
                lookup,
                (connection, statement) -> {
                    statement.setString(1, STORAGE_KEYS.of(key));
                    statement.setString(2, STORAGE_KEYS.of(key));
                },
                PostgresAnswers::infos);
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return connections
                .query(
                        "looking up a lock by its id",
                        lookupById,
                        (connection, statement) -> {
                            statement.setString(1, lockId);
                            statement.setString(2, lockId);
                        },
                        PostgresAnswers::infos)
                .stream()
                .findFirst();
    }

    /**
     * The server ends a statement by itself in less than the timeout; the rest is for the way there. A commit that waits for a
     * synchronous standby may take longer: such a grant stays until its ttl is over.
     */
    @Override
    public Duration inDoubtPeriod() {
        return settings.timeout().multipliedBy(2);
    }

    @Override
    public void close() {
        if (wakeUps != null) {
            wakeUps.close();
        }
        sweeper.close();
        onClose.run();
    }
}
