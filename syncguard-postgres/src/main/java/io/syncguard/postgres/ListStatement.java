package io.syncguard.postgres;

import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.spi.Hashes;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the leases and queues of many keys. Takes no row locks and reads no counter. */
final class ListStatement {

    /**
     * First finds the keys of the page: each of the three tables gives as many as fit, in the order of an index. The
     * rows of a key are its leases by fence, then its queue by arrival.
     */
    private static final String LIST = """
        WITH "Clock" AS MATERIALIZED (
            SELECT ${syncguard_locks}_now() AS now_ms
        ), "Page" AS MATERIALIZED (
            (SELECT l.key FROM ${syncguard_locks} l, "Clock" c
             WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms) ORDER BY l.key LIMIT ?)
            UNION
            (SELECT DISTINCT l.key FROM ${syncguard_locks}_shared l, "Clock" c
             WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms) ORDER BY l.key LIMIT ?)
            UNION
            (SELECT DISTINCT l.key FROM ${syncguard_locks}_waiters l, "Clock" c
             WHERE %1$s AND l.expires_at_ms > c.now_ms ORDER BY l.key LIMIT ?)
            ORDER BY key LIMIT ?
        )
        SELECT p.key, c.now_ms, r.*
        FROM "Clock" c, "Page" p, LATERAL (
            SELECT l.user_key, l.lock_id, 'EXCLUSIVE' AS mode, l.acquired_at_ms, l.expires_at_ms, l.fence, l.owner,
                   NULL::BIGINT AS arrival, 0::BIGINT AS waiters, 0 AS permits
            FROM ${syncguard_locks} l
            WHERE l.key = p.key AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms)
            UNION ALL
            SELECT s.user_key, s.lock_id, 'SHARED', s.acquired_at_ms, s.expires_at_ms, s.fence, s.owner, NULL, 0, 0
            FROM ${syncguard_locks}_shared s
            WHERE s.key = p.key AND ${syncguard_locks}_is_live(s.expires_at_ms, c.now_ms)
            UNION ALL
            (SELECT NULL, NULL, CASE WHEN w.shared THEN 'SHARED' ELSE 'EXCLUSIVE' END, w.arrived_at_ms, NULL, NULL,
                    w.owner, w.arrival, count(*) OVER (), CASE WHEN w.shared THEN coalesce(w.permits, 0) ELSE 0 END
             FROM ${syncguard_locks}_waiters w WHERE w.key = p.key AND w.expires_at_ms > c.now_ms
             ORDER BY w.arrival LIMIT ?)
        ) AS r
        ORDER BY p.key, r.arrival NULLS FIRST, r.fence
        """;

    private final String list;
    private final String listByPrefix;
    private final String status;

    ListStatement(PostgresTables tables) {
        this.list = tables.fill(LIST.formatted("l.key > ?::TEXT"));
        // Two bounds, because starts_with() would read all keys behind the prefix.
        this.listByPrefix = tables.fill(LIST.formatted("l.key > ?::TEXT AND l.key >= ?::TEXT AND l.key < ?::TEXT"));
        this.status = tables.fill(LIST.formatted("l.key = ?::TEXT"));
    }

    LockPage list(PostgresConnections connections, LockQuery query) {
        String behind = behind(query.prefix());
        // One key more than the limit shows whether there is another page.
        List<LockStatus> found = connections.query(
                "listing locks",
                behind == null ? list : listByPrefix,
                (connection, statement) -> {
                    int parameter = 1;
                    for (int table = 1; table <= 3; table++) {
                        statement.setString(parameter++, query.after());
                        if (behind != null) {
                            statement.setString(parameter++, query.prefix());
                            statement.setString(parameter++, behind);
                        }
                        statement.setInt(parameter++, query.limit() + 1);
                    }
                    statement.setInt(parameter++, query.limit() + 1);
                    statement.setInt(parameter, LockStatus.MAX_QUEUE);
                },
                ListStatement::statuses);
        return LockPage.of(found, query.limit());
    }

    /**
     * Returns the smallest text, by its bytes in UTF-8, that is larger than all texts with this prefix: the prefix with
     * its last character incremented. {@code null} if there is none.
     */
    static @Nullable String behind(String prefix) {
        int end = prefix.length();
        while (end > 0) {
            int last = prefix.codePointBefore(end);
            end -= Character.charCount(last);
            if (last < Character.MAX_CODE_POINT) {
                int next = last + 1 == Character.MIN_SURROGATE ? Character.MAX_SURROGATE + 1 : last + 1;
                return prefix.substring(0, end) + Character.toString(next);
            }
        }
        return null;
    }

    /** Returns an empty list if nobody holds the key or waits for it. */
    List<LockStatus> status(PostgresConnections connections, String key) {
        return connections.query(
                "looking at the holders and waiters of lock '" + key + "'",
                status,
                (connection, statement) -> {
                    int parameter = 1;
                    for (int table = 1; table <= 3; table++) {
                        statement.setString(parameter++, key);
                        statement.setInt(parameter++, 1);
                    }
                    statement.setInt(parameter++, 1);
                    statement.setInt(parameter, LockStatus.MAX_QUEUE);
                },
                ListStatement::statuses);
    }

    private static List<LockStatus> statuses(ResultSet rows) throws SQLException {
        List<LockStatus> all = new ArrayList<>();
        boolean more = rows.next();
        while (more) {
            String key = rows.getString("key");
            Instant at = Instant.ofEpochMilli(rows.getLong("now_ms"));
            List<LockInfo> holders = new ArrayList<>();
            List<LockStatus.Waiter> queue = new ArrayList<>();
            int waiters = 0;
            do {
                if (rows.getString("fence") != null) {
                    holders.add(Hashes.abbreviated(LookupStatement.info(rows)));
                } else {
                    queue.add(waiter(rows));
                    waiters = rows.getInt("waiters");
                }
                more = rows.next();
            } while (more && rows.getString("key").equals(key));
            all.add(new LockStatus(key, at, holders, queue, waiters));
        }
        return all;
    }

    private static LockStatus.Waiter waiter(ResultSet rows) throws SQLException {
        return new LockStatus.Waiter(
                LockMode.valueOf(rows.getString("mode")),
                rows.getInt("permits"),
                PostgresRows.text(rows, "owner"),
                Instant.ofEpochMilli(rows.getLong("acquired_at_ms")));
    }
}
