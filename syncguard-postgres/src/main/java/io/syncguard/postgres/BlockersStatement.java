package io.syncguard.postgres;

import io.syncguard.spi.BlockingSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the sessions whose transactions lock rows of a key. Locks no row. {@code pg_blocking_pids} alone would need a
 * session that waits now, and the statements of the library give up early or skip locked rows.
 */
final class BlockersStatement {

    private static final int STATEMENT_LENGTH = 200;

    /**
     * The column xmax names the transaction that locked the row last. A prepared transaction has no session; its pid is
     * 0.
     */
    private static final String BLOCKERS = """
            WITH "Rows" AS (
                SELECT l.xmax AS locker FROM ${syncguard_locks} l WHERE l.key = ?::TEXT
                UNION
                SELECT s.xmax FROM ${syncguard_locks}_shared s WHERE s.key = ?::TEXT
                UNION
                SELECT c.xmax FROM ${syncguard_fence_counters} c
                WHERE c.fence_key = ${syncguard_locks}_fence_key(?::TEXT)
            ), "Lockers" AS (
                SELECT DISTINCT coalesce(k.pid, 0) AS pid, k.transactionid
                FROM "Rows" r, LATERAL ${syncguard_locks}_lockers(r.locker) AS m (xid), pg_locks k
                WHERE k.locktype = 'transactionid' AND k.granted AND k.transactionid = m.xid
            )
            SELECT b.pid, coalesce(a.application_name, 'prepared transaction ' || p.gid) AS application,
                   coalesce(a.usename, p.owner) AS usename, a.state,
                   coalesce(a.xact_start, p.prepared) AS since, left(a.query, ?::INTEGER) AS query,
                   pg_blocking_pids(b.pid) AS blocked_by
            FROM "Lockers" b
            LEFT JOIN pg_stat_activity a ON a.pid = b.pid
            LEFT JOIN pg_prepared_xacts p ON p.transaction = b.transactionid
            ORDER BY since, b.pid
            """;

    private final String blockers;

    BlockersStatement(PostgresTables tables) {
        this.blockers = tables.fill(BLOCKERS);
    }

    List<BlockingSession> blockers(PostgresConnections connections, String key) {
        return connections.query(
                "looking for the sessions that block lock '" + key + "'",
                blockers,
                (connection, statement) -> {
                    statement.setString(1, key);
                    statement.setString(2, key);
                    statement.setString(3, key);
                    statement.setInt(4, STATEMENT_LENGTH);
                },
                BlockersStatement::sessions);
    }

    private static List<BlockingSession> sessions(ResultSet rows) throws SQLException {
        List<BlockingSession> sessions = new ArrayList<>();
        while (rows.next()) {
            sessions.add(new BlockingSession(
                    rows.getInt("pid"),
                    PostgresRows.text(rows, "application"),
                    PostgresRows.text(rows, "usename"),
                    PostgresRows.text(rows, "state"),
                    instant(rows),
                    PostgresRows.text(rows, "query"),
                    List.of((Integer[]) rows.getArray("blocked_by").getArray())));
        }
        return sessions;
    }

    private static @Nullable Instant instant(ResultSet rows) throws SQLException {
        Timestamp since = rows.getTimestamp("since");
        return since == null ? null : since.toInstant();
    }
}
