package io.syncguard.verification.recording;

import io.syncguard.portable.PortableSettings;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.verification.history.HistoryEvent.Lease;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The stored locks in a database, with the default table names.
 *
 * @param leases a query of all leases
 * @param waiters a query of all queue entries
 * @param fences a query of the fence counters
 * @param now an expression for the server's clock
 * @param waiterTtl the longest ttl of a queue entry
 */
record JdbcStressStore(JdbcTemplate jdbc, String leases, String waiters, String fences, String now, Duration waiterTtl)
        implements StressStore {

    static JdbcStressStore inPostgres(JdbcTemplate jdbc) {
        String columns = "SELECT key AS lock_key, lock_id, expires_at_ms AS expires_at";
        String lease = columns + ", acquired_at_ms AS acquired_at, fence, ";
        return new JdbcStressStore(
                jdbc,
                lease + "false AS shared FROM syncguard_locks UNION ALL " + lease + "true FROM syncguard_locks_shared",
                columns + " FROM syncguard_locks_waiters",
                "SELECT key_debug AS lock_key, fence FROM syncguard_fence_counters",
                "syncguard_locks_now()",
                PostgresSettings.WAITER_TTL);
    }

    static JdbcStressStore inMariaDb(JdbcTemplate jdbc) {
        String key = "SELECT CONVERT(lock_key USING utf8mb4) AS lock_key, ";
        return new JdbcStressStore(
                jdbc,
                key + "lock_id, expires_at, acquired_at, fence, mode = 'SHARED' AS shared FROM syncguard_leases",
                key + "lock_id, expires_at FROM syncguard_waiters",
                key + "fence FROM syncguard_keys WHERE fence > 0",
                "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)",
                PortableSettings.WAITER_TTL);
    }

    @Override
    public Optional<Known> anyLock(Random random) {
        return jdbc
                .query(
                        "SELECT lock_key, lock_id FROM (" + leases + ") l UNION ALL SELECT lock_key, lock_id FROM ("
                                + waiters + ") w LIMIT 1 OFFSET ?",
                        (row, number) -> new Known(row.getString("lock_key"), row.getString("lock_id")),
                        random.nextInt(30))
                .stream()
                .findFirst();
    }

    @Override
    public List<Live> liveLeases() {
        return jdbc.query(
                "SELECT * FROM (" + leases + ") l WHERE expires_at > " + now + " - 1000",
                (row, number) -> new Live(
                        new Known(row.getString("lock_key"), row.getString("lock_id")),
                        new Lease(
                                Long.parseLong(row.getString("fence")),
                                0,
                                row.getLong("acquired_at"),
                                row.getLong("expires_at"),
                                row.getBoolean("shared"))));
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> values = new HashMap<>();
        jdbc.query(fences, row -> {
            values.put(row.getString("lock_key"), row.getLong("fence"));
        });
        return values;
    }

    @Override
    public long entries() {
        return jdbc.queryForObject(count(""), Long.class);
    }

    @Override
    public long withoutEnd() {
        return jdbc.queryForObject(
                count(" WHERE expires_at - ? > " + now), Long.class, LONGEST_TTL_MILLIS, waiterTtl.toMillis());
    }

    private String count(String where) {
        return "SELECT (SELECT COUNT(*) FROM (" + leases + ") l" + where + ") + (SELECT COUNT(*) FROM (" + waiters
                + ") w" + where + ")";
    }
}
