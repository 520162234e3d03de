package io.syncguard.verification.recording;

import io.syncguard.postgres.PostgresSettings;
import io.syncguard.verification.history.HistoryEvent.Lease;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.springframework.jdbc.core.JdbcTemplate;

/** The stored locks in PostgreSQL, with the default table names. */
final class PostgresStressStore implements StressStore {

    private static final String ANY_LOCK = """
            SELECT key, lock_id FROM syncguard_locks
            UNION ALL SELECT key, lock_id FROM syncguard_locks_shared
            UNION ALL SELECT key, lock_id FROM syncguard_locks_waiters
            LIMIT 1 OFFSET ?
            """;

    private static final String LIVE_LEASES = """
            SELECT * FROM (
                SELECT key, lock_id, acquired_at_ms, expires_at_ms, fence, false AS shared FROM syncguard_locks
                UNION ALL SELECT key, lock_id, acquired_at_ms, expires_at_ms, fence, true FROM syncguard_locks_shared)
                AS leases
            WHERE expires_at_ms > syncguard_locks_now() - 1000
            """;

    /**
     * Counts leases that end later than the longest ttl from now, and queue entries that end later than the longest
     * waiter ttl.
     */
    private static final String WITHOUT_END = """
            SELECT count(*) FROM (
                SELECT expires_at_ms - ? AS from_ms FROM syncguard_locks
                UNION ALL SELECT expires_at_ms - ? FROM syncguard_locks_shared
                UNION ALL SELECT expires_at_ms - ? FROM syncguard_locks_waiters) AS ends
            WHERE from_ms > syncguard_locks_now()
            """;

    private static final String ENTRIES = """
            SELECT (SELECT count(*) FROM syncguard_locks) + (SELECT count(*) FROM syncguard_locks_shared)
                + (SELECT count(*) FROM syncguard_locks_waiters)
            """;

    private final JdbcTemplate jdbc;

    PostgresStressStore(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public Optional<Known> anyLock(Random random) {
        return jdbc
                .query(
                        ANY_LOCK,
                        (row, number) -> new Known(row.getString("key"), row.getString("lock_id")),
                        random.nextInt(30))
                .stream()
                .findFirst();
    }

    @Override
    public List<Live> liveLeases() {
        return jdbc.query(
                LIVE_LEASES,
                (row, number) -> new Live(
                        new Known(row.getString("key"), row.getString("lock_id")),
                        new Lease(
                                Long.parseLong(row.getString("fence")),
                                0,
                                row.getLong("acquired_at_ms"),
                                row.getLong("expires_at_ms"),
                                row.getBoolean("shared"))));
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>();
        jdbc.query("SELECT key_debug, fence FROM syncguard_fence_counters", row -> {
            counters.put(row.getString("key_debug"), row.getLong("fence"));
        });
        return counters;
    }

    @Override
    public long entries() {
        return jdbc.queryForObject(ENTRIES, Long.class);
    }

    @Override
    public long withoutEnd() {
        return jdbc.queryForObject(
                WITHOUT_END,
                Long.class,
                LONGEST_TTL_MILLIS,
                LONGEST_TTL_MILLIS,
                PostgresSettings.WAITER_TTL.toMillis());
    }
}
