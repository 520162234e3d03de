package io.syncguard.verification.recording;

import io.syncguard.portable.PortableSettings;
import io.syncguard.verification.history.HistoryEvent.Lease;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.springframework.jdbc.core.JdbcTemplate;

/** The stored locks of the portable store in MariaDB, with the default table names. */
final class MariaDbStressStore implements StressStore {

    private static final String KEY = "CONVERT(lock_key USING utf8mb4) AS lock_key";

    private static final String NOW = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";

    private static final String ANY_LOCK = "SELECT " + KEY + ", lock_id FROM syncguard_leases UNION ALL SELECT " + KEY
            + ", lock_id FROM syncguard_waiters LIMIT 1 OFFSET ?";

    private static final String LIVE_LEASES = "SELECT " + KEY
            + ", lock_id, acquired_at, expires_at, fence, mode = 'SHARED' AS shared FROM syncguard_leases"
            + " WHERE expires_at > " + NOW + " - 1000";

    /**
     * Counts leases that end later than the longest ttl from now, and queue entries that end later than the longest
     * waiter ttl.
     */
    private static final String WITHOUT_END = """
            SELECT COUNT(*) FROM (
                SELECT expires_at - ? AS since FROM syncguard_leases
                UNION ALL SELECT expires_at - ? FROM syncguard_waiters) AS ends
            WHERE since > \
            """ + NOW;

    private static final String ENTRIES =
            "SELECT (SELECT COUNT(*) FROM syncguard_leases) + (SELECT COUNT(*) FROM syncguard_waiters)";

    private final JdbcTemplate jdbc;

    MariaDbStressStore(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public Optional<Known> anyLock(Random random) {
        return jdbc
                .query(
                        ANY_LOCK,
                        (row, number) -> new Known(row.getString("lock_key"), row.getString("lock_id")),
                        random.nextInt(30))
                .stream()
                .findFirst();
    }

    @Override
    public List<Live> liveLeases() {
        return jdbc.query(
                LIVE_LEASES,
                (row, number) -> new Live(
                        new Known(row.getString("lock_key"), row.getString("lock_id")),
                        new Lease(
                                row.getLong("fence"),
                                0,
                                row.getLong("acquired_at"),
                                row.getLong("expires_at"),
                                row.getBoolean("shared"))));
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>();
        jdbc.query("SELECT " + KEY + ", fence FROM syncguard_keys WHERE fence > 0", row -> {
            counters.put(row.getString("lock_key"), row.getLong("fence"));
        });
        return counters;
    }

    @Override
    public long entries() {
        return jdbc.queryForObject(ENTRIES, Long.class);
    }

    @Override
    public long withoutEnd() {
        return jdbc.queryForObject(WITHOUT_END, Long.class, LONGEST_TTL_MILLIS, PortableSettings.WAITER_TTL.toMillis());
    }
}
