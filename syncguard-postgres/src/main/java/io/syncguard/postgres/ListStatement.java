package io.syncguard.postgres;

import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockOrder;
import io.syncguard.LockPage;
import io.syncguard.LockPosition;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.spi.Hashes;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the leases and queues of many keys. Takes no row locks and reads no counter. */
final class ListStatement {

    /** Each of the three tables gives as many keys as fit, in the order of an index. */
    private static final String PAGE_BY_KEY = """
        "Page" AS MATERIALIZED (
            SELECT key, 0::BIGINT AS millis FROM (
                (SELECT l.key FROM ${syncguard_locks} l, "Clock" c
                 WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms) ORDER BY l.key LIMIT ?)
                UNION
                (SELECT DISTINCT l.key FROM ${syncguard_locks}_shared l, "Clock" c
                 WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms) ORDER BY l.key LIMIT ?)
                UNION
                (SELECT DISTINCT l.key FROM ${syncguard_locks}_waiters l, "Clock" c
                 WHERE %1$s AND l.expires_at_ms > c.now_ms ORDER BY l.key LIMIT ?)
            ) AS p ORDER BY key LIMIT ?
        )
        """;

    private static final String LEASES_AND_WAITERS = """
                SELECT l.key, l.acquired_at_ms, l.expires_at_ms, NULL::BIGINT AS arrived_at_ms, l.owner
                FROM ${syncguard_locks} l, "Clock" c
                WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms)
                UNION ALL
                SELECT l.key, l.acquired_at_ms, l.expires_at_ms, NULL::BIGINT, l.owner
                FROM ${syncguard_locks}_shared l, "Clock" c
                WHERE %1$s AND ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms)
                UNION ALL
        """;

    private static final String WAITERS = """
                SELECT l.key, NULL::BIGINT AS acquired_at_ms, NULL::BIGINT AS expires_at_ms, l.arrived_at_ms, l.owner
                FROM ${syncguard_locks}_waiters l, "Clock" c
                WHERE %1$s AND l.expires_at_ms > c.now_ms
        """;

    /** Groups all rows that fit. */
    private static final String SORTED_PAGE = """
        "Page" AS MATERIALIZED (
            SELECT key, millis FROM (
                SELECT key, coalesce(%2$s, 9223372036854775807) AS millis
                FROM (%1$s) AS r
                GROUP BY key HAVING %3$s
            ) AS k WHERE millis > ?::BIGINT OR millis = ?::BIGINT AND key > ?::TEXT ORDER BY millis, key LIMIT ?
        )
        """;

    /** The rows of a key are its leases by fence, then its queue by arrival. */
    private static final String LIST = """
        WITH "Clock" AS MATERIALIZED (
            SELECT ${syncguard_locks}_now() AS now_ms
        ), %1$s
        SELECT p.key, p.millis, c.now_ms, r.*
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
        ORDER BY p.millis, p.key, r.arrival NULLS FIRST, r.fence
        """;

    /** One look at each row. */
    private static final String SUMMARY = """
        WITH "Clock" AS MATERIALIZED (
            SELECT ${syncguard_locks}_now() AS now_ms
        ), "Lease" AS (
            SELECT count(*) AS keys, count(*) AS leases, min(l.acquired_at_ms) AS since
            FROM ${syncguard_locks} l, "Clock" c
            WHERE ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms)
            UNION ALL
            SELECT pg_catalog.count(DISTINCT l.key), count(*), min(l.acquired_at_ms)
            FROM ${syncguard_locks}_shared l, "Clock" c
            WHERE ${syncguard_locks}_is_live(l.expires_at_ms, c.now_ms)
        ), "Waiter" AS (
            SELECT pg_catalog.count(DISTINCT l.key) AS keys, count(*) AS waiters, min(l.arrived_at_ms) AS since
            FROM ${syncguard_locks}_waiters l, "Clock" c
            WHERE l.expires_at_ms > c.now_ms
        )
        SELECT sum(l.keys), sum(l.leases), coalesce(c.now_ms - min(l.since), 0), w.keys, w.waiters,
               coalesce(c.now_ms - w.since, 0)
        FROM "Clock" c, "Lease" l, "Waiter" w
        GROUP BY c.now_ms, w.keys, w.waiters, w.since
        """;

    private final PostgresTables tables;
    private final String status;
    private final String summary;

    ListStatement(PostgresTables tables) {
        this.tables = tables;
        this.status = tables.fill(LIST.formatted(PAGE_BY_KEY.formatted("l.key = ?::TEXT")));
        this.summary = tables.fill(SUMMARY);
    }

    LockPage list(PostgresConnections connections, LockQuery query) {
        List<Object> parameters = new ArrayList<>();
        String page = isByKey(query) ? pageByKey(query, parameters) : sortedPage(query, parameters);
        // One key more than the limit shows whether there is another page.
        parameters.add(query.limit() + 1);
        parameters.add(LockStatus.MAX_QUEUE);
        List<Found> found = connections.query(
                "listing locks",
                tables.fill(LIST.formatted(page)),
                (connection, statement) -> {
                    for (int i = 0; i < parameters.size(); i++) {
                        statement.setObject(i + 1, parameters.get(i));
                    }
                },
                rows -> statuses(rows, query.order()));
        int limit = query.limit();
        return new LockPage(
                found.stream().limit(limit).map(Found::lock).toList(),
                found.size() <= limit ? null : found.get(limit - 1).position().toString());
    }

    /** Reads two times: all locks are counted, and the queues are read. */
    LockSummary summary(PostgresConnections connections) {
        List<LockStatus> queues = list(connections, LockSummary.QUEUES).locks();
        return connections.query("counting locks", summary, (connection, statement) -> {}, rows -> {
            rows.next();
            return new LockSummary(
                    rows.getLong(1),
                    rows.getLong(2),
                    rows.getLong(4),
                    rows.getLong(5),
                    Duration.ofMillis(rows.getLong(3)),
                    Duration.ofMillis(rows.getLong(6)),
                    queues);
        });
    }

    /** Whether an index has the keys in the order of the list. */
    private static boolean isByKey(LockQuery query) {
        return query.order() == LockOrder.KEY
                && !query.isWaitedFor()
                && query.owner().isEmpty();
    }

    private static String pageByKey(LockQuery query, List<Object> parameters) {
        String keys = "l.key > ?::TEXT AND " + keys(query, new ArrayList<>());
        for (int table = 1; table <= 3; table++) {
            parameters.add(query.after());
            keys(query, parameters);
            parameters.add(query.limit() + 1);
        }
        return PAGE_BY_KEY.formatted(keys);
    }

    private static String sortedPage(LockQuery query, List<Object> parameters) {
        boolean needsLeases = !query.isWaitedFor()
                || !query.owner().isEmpty()
                || query.order() == LockOrder.LONGEST_HELD
                || query.order() == LockOrder.ENDS_FIRST;
        String rows = (needsLeases ? LEASES_AND_WAITERS + WAITERS : WAITERS).formatted(keys(query, new ArrayList<>()));
        for (int table = needsLeases ? 1 : 3; table <= 3; table++) {
            keys(query, parameters);
        }
        String groups = query.isWaitedFor() ? "pg_catalog.count(arrived_at_ms) > 0" : "TRUE";
        if (!query.owner().isEmpty()) {
            groups += " AND bool_or(strpos(owner, ?::TEXT) > 0)";
            parameters.add(query.owner());
        }
        LockPosition begin = query.position();
        parameters.addAll(List.of(begin.millis(), begin.millis(), begin.key()));
        String millis = switch (query.order()) {
            case KEY -> "0::BIGINT";
            case LONGEST_HELD -> "min(acquired_at_ms)";
            case LONGEST_WAIT -> "min(arrived_at_ms)";
            case ENDS_FIRST -> "min(expires_at_ms)";
        };
        return SORTED_PAGE.formatted(rows, millis, groups);
    }

    /** The conditions on the keys of one table. */
    private static String keys(LockQuery query, List<Object> parameters) {
        List<String> conditions = new ArrayList<>(List.of("TRUE"));
        String behind = behind(query.prefix());
        if (behind != null) {
            // Two bounds, because starts_with() would read all keys behind the prefix.
            conditions.add("l.key >= ?::TEXT AND l.key < ?::TEXT");
            parameters.addAll(List.of(query.prefix(), behind));
        }
        if (!query.part().isEmpty()) {
            conditions.add("strpos(l.key, ?::TEXT) > 0");
            parameters.add(query.part());
        }
        return String.join(" AND ", conditions);
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
                rows -> statuses(rows, LockOrder.KEY).stream().map(Found::lock).toList());
    }

    private record Found(LockStatus lock, LockPosition position) {}

    private static List<Found> statuses(ResultSet rows, LockOrder order) throws SQLException {
        List<Found> all = new ArrayList<>();
        boolean more = rows.next();
        while (more) {
            String key = rows.getString("key");
            LockPosition position = new LockPosition(order, rows.getLong("millis"), key);
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
            all.add(new Found(new LockStatus(key, at, holders, queue, waiters), position));
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
