package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Reads the leases of a key or a lock id. Takes no row locks. */
final class LookupStatement {

    private static final String IS_LOCKED = """
            SELECT ${syncguard_locks}_is_live(greatest(
                (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.key = ?::TEXT),
                (SELECT max(s.expires_at_ms) FROM ${syncguard_locks}_shared s WHERE s.key = ?::TEXT)
            ), ${syncguard_locks}_now())
            """;

    private static final String LOOKUP = """
            SELECT user_key, lock_id, 'EXCLUSIVE' AS mode, acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}
            WHERE key = ?::TEXT AND ${syncguard_locks}_is_live(expires_at_ms, ${syncguard_locks}_now())
            UNION ALL
            SELECT user_key, lock_id, 'SHARED', acquired_at_ms, expires_at_ms, fence, owner
            FROM ${syncguard_locks}_shared
            WHERE key = ?::TEXT AND ${syncguard_locks}_is_live(expires_at_ms, ${syncguard_locks}_now())
            ORDER BY fence
            """;

    private static final String LOOKUP_BY_ID = LOOKUP.replace("WHERE key = ", "WHERE lock_id = ");

    private final String isLocked;
    private final String lookup;
    private final String lookupById;

    LookupStatement(PostgresTables tables) {
        this.isLocked = tables.fill(IS_LOCKED);
        this.lookup = tables.fill(LOOKUP);
        this.lookupById = tables.fill(LOOKUP_BY_ID);
    }

    /** Returns empty if there is no lease, and false if all leases have lapsed. */
    Optional<Boolean> isLocked(PostgresConnections connections, String key) {
        return connections.query(
                "looking at lock '" + key + "'",
                isLocked,
                (connection, statement) -> {
                    statement.setString(1, key);
                    statement.setString(2, key);
                },
                LookupStatement::live);
    }

    List<RawLockInfo> byKey(PostgresConnections connections, String key) {
        return run(connections, "looking up lock '" + key + "'", lookup, key);
    }

    Optional<RawLockInfo> byId(PostgresConnections connections, String lockId) {
        return run(connections, "looking up a lock by its id", lookupById, lockId).stream()
                .findFirst();
    }

    private static List<RawLockInfo> run(
            PostgresConnections connections, String doing, String sql, String keyOrLockId) {
        return connections.query(
                doing,
                sql,
                (connection, statement) -> {
                    statement.setString(1, keyOrLockId);
                    statement.setString(2, keyOrLockId);
                },
                rows -> PostgresRows.all(rows, LookupStatement::info));
    }

    private static Optional<Boolean> live(ResultSet rows) throws SQLException {
        rows.next();
        boolean live = rows.getBoolean(1);
        return rows.wasNull() ? Optional.empty() : Optional.of(live);
    }

    static RawLockInfo info(ResultSet rows) throws SQLException {
        return new RawLockInfo(
                rows.getString("user_key"),
                rows.getString("lock_id"),
                LockMode.valueOf(rows.getString("mode")),
                Instant.ofEpochMilli(rows.getLong("acquired_at_ms")),
                Instant.ofEpochMilli(rows.getLong("expires_at_ms")),
                new Fence(Long.parseLong(rows.getString("fence"))),
                PostgresRows.text(rows, "owner"));
    }
}
