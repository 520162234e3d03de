package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.ManualTime;
import io.syncguard.core.StoreCalls;
import io.syncguard.jdbc.Sweeper;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** The sweeper deletes lapsed leases from the table of the locks, in time and in batches, and nothing else. */
class PostgresSweeperTests {

    private static final Duration INTERVAL = Duration.ofMinutes(1);
    private static final Duration ALMOST = INTERVAL.minusMillis(1);

    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final ManualTime time = new ManualTime();
    private StoreCalls backend;

    @BeforeEach
    void open() {
        dataSource.setJdbcUrl(PostgresServer.newDatabaseUrl());
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
    }

    @AfterEach
    void close() {
        backend.close();
        dataSource.close();
    }

    @Test
    void what_lapsed_more_than_two_seconds_ago_is_deleted_and_what_is_younger_stays() {
        open(INTERVAL, false);
        lease("long gone", -3_000_000);
        lease("gone", -2_500);
        lease("tolerated", -500);
        lease("lapsed", -1_200);
        lease("live", 3_000);

        time.advance(INTERVAL);

        eventually().until(() -> leases().size() == 3);
        assertThat(leases()).containsExactly("lapsed", "live", "tolerated");
    }

    @Test
    void fence_counters_stay() {
        open(INTERVAL, false);
        lease("gone", -5_000);

        time.advance(INTERVAL);

        eventually().until(() -> leases().isEmpty());
        assertThat(jdbc.queryForObject("SELECT fence FROM syncguard_fence_counters", Long.class))
                .isEqualTo(7);
    }

    @Test
    void counters_that_are_idle_for_the_retention_are_deleted_if_fences_come_from_the_clock() {
        new PostgresSchema(dataSource, PostgresTables.DEFAULT, FenceSource.CLOCK).initialize();
        open(INTERVAL, false, FenceSettings.from(FenceSource.CLOCK));
        jdbc.update("INSERT INTO syncguard_fence_counters SELECT 'fence:' || n, 7, n FROM generate_series(1, 2500) n");
        jdbc.update(
                "INSERT INTO syncguard_fence_counters VALUES ('fence:used', (syncguard_locks_now() - ?) * 100, 'used')",
                FenceSettings.RETENTION.minusMinutes(5).toMillis());

        // Each instance begins at another time of the first seventh.
        time.advance(FenceSettings.RETENTION.dividedBy(7));

        eventually()
                .until(() -> jdbc.queryForList("SELECT key_debug FROM syncguard_fence_counters", String.class)
                        .equals(List.of("used")));
    }

    @Test
    void more_than_a_batch_is_swept_at_once() {
        open(INTERVAL, false);
        int leases = 2 * Sweeper.BATCH + 50;
        for (int i = 0; i < leases; i++) {
            lease("k" + i, -5_000 - i);
        }

        time.advance(INTERVAL);

        eventually().until(() -> leases().isEmpty());
    }

    @Test
    void leases_that_are_in_use_do_not_stand_in_the_way_of_those_behind_them() throws SQLException {
        open(INTERVAL, false);
        for (int i = 0; i < Sweeper.BATCH; i++) {
            lease("pinned" + i, -90_000);
        }
        lease("behind", -5_000);
        try (Connection other = dataSource.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM syncguard_locks WHERE key LIKE 'pinned%' FOR KEY SHARE");

            time.advance(INTERVAL);

            eventually().until(() -> leases().size() == Sweeper.BATCH);
            other.rollback();
        }
        assertThat(leases()).doesNotContain("behind");
    }

    @Test
    void the_table_is_swept_once_per_interval() {
        open(INTERVAL, false);
        lease("first", -5_000);
        time.advance(INTERVAL);
        eventually().until(() -> leases().isEmpty());

        lease("second", -5_000);
        time.advance(ALMOST);
        assertNothingIsSwept();

        time.advance(INTERVAL.minus(ALMOST));
        eventually().until(() -> leases().isEmpty());
    }

    @Test
    void an_interval_of_zero_sweeps_nothing() {
        open(Duration.ZERO, false);
        lease("gone", -5_000);

        time.advance(Duration.ofDays(365));

        assertNothingIsSwept();
    }

    /** Other libraries keep the rows of keys that are never used again forever. */
    @BugOf("SyncGuard for TypeScript: lapsed rows of keys that are never used again stay for ever")
    @Test
    void of_many_keys_that_are_locked_once_only_the_counters_stay() {
        open(INTERVAL, false);
        int keys = 10_000;
        jdbc.queryForList("""
                SELECT syncguard_locks_acquire('k' || n, false, 1, 'id' || n, 30000, 'test', false, NULL, NULL, NULL,
                    NULL, NULL)
                FROM generate_series(1, ?) AS n
                """, keys);
        jdbc.queryForList("SELECT syncguard_locks_release(lock_id) FROM syncguard_locks WHERE right(key, 1) <> '0'");
        jdbc.update("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms - 60000");
        assertThat(leases()).hasSize(keys / 10);

        time.advance(INTERVAL);

        eventually().until(() -> leases().isEmpty());
        assertThat(jdbc.queryForObject("SELECT count(*) FROM syncguard_fence_counters WHERE fence = 1", Integer.class))
                .isEqualTo(keys);
    }

    @Test
    void a_sweep_that_fails_is_logged_and_the_next_one_comes_in_time() {
        open(INTERVAL, false);
        lease("gone", -5_000);
        jdbc.execute("ALTER FUNCTION syncguard_locks_sweep(text[]) RENAME TO away");
        try (CapturedLog log = new CapturedLog()) {
            time.advance(INTERVAL);
            eventually().until(() -> !log.messages().isEmpty());

            assertThat(log.messages()).singleElement().asString().startsWith("Lapsed locks could not be swept");
        }
        jdbc.execute("ALTER FUNCTION away(text[]) RENAME TO syncguard_locks_sweep");

        time.advance(INTERVAL);

        eventually().until(() -> leases().isEmpty());
    }

    @Test
    void a_look_at_a_lapsed_key_sweeps_that_key_when_it_may() {
        open(Duration.ZERO, true);
        lease("asked", -5_000);
        lease("another", -5_000);

        assertThat(backend.isLocked("asked")).isFalse();

        eventually().until(() -> leases().equals(List.of("another")));
        assertThat(backend.isLocked("asked")).isFalse();
    }

    @Test
    void a_look_sweeps_neither_a_live_lease_nor_one_that_has_just_lapsed() {
        open(Duration.ZERO, true);
        lease("just lapsed", -1_200);
        lease("live", 30_000);
        lease("gone", -5_000);

        assertThat(backend.isLocked("just lapsed")).isFalse();
        assertThat(backend.isLocked("live")).isTrue();
        assertThat(backend.isLocked("gone")).isFalse();

        eventually().until(() -> leases().size() == 2);
        assertThat(leases()).containsExactly("just lapsed", "live");
    }

    @Test
    void a_look_only_reads_when_nobody_says_otherwise() {
        open(Duration.ZERO, false);
        lease("asked", -5_000);

        assertThat(backend.isLocked("asked")).isFalse();

        assertNothingIsSwept();
    }

    @Test
    void the_lapsed_are_found_by_the_index() {
        open(Duration.ZERO, false);
        jdbc.execute("""
                INSERT INTO syncguard_locks
                SELECT 'k' || n, 'id' || n, syncguard_locks_now() + n, 0, '000000000000001', 'k' || n, 'test'
                FROM generate_series(1, 5000) AS n
                """);
        jdbc.execute("ANALYZE syncguard_locks");

        List<String> plan = jdbc.queryForList("""
                EXPLAIN SELECT key FROM syncguard_locks
                WHERE expires_at_ms < (SELECT syncguard_locks_sweep_before()) AND (expires_at_ms, key) > (0, '')
                ORDER BY expires_at_ms, key LIMIT 200
                """, String.class);

        assertThat(plan).anyMatch(line -> line.contains("Index Scan using syncguard_locks_expires_at_ms_idx"));
    }

    /**
     * The planner prices a forced scan at 10000000000. At that price a server with a JIT compiler compiles the
     * statement.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 5000})
    void the_look_for_the_lapsed_is_not_worth_compiling(int waiters) throws SQLException {
        open(Duration.ZERO, false);
        jdbc.update("""
                INSERT INTO syncguard_locks_waiters
                    (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, waiter)
                SELECT 'id' || n, 'k' || n, 0, false, syncguard_locks_now() + n, 5000, false, n
                FROM generate_series(1, ?) AS n
                """, waiters);
        jdbc.execute("VACUUM ANALYZE");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET enable_seqscan = off");
            String look = PostgresTables.DEFAULT
                    .fill(PostgresSweeps.LAPSED)
                    .replace("(?, ?)", "(0, '')")
                    .replace("?", "200");

            try (ResultSet plan = statement.executeQuery("EXPLAIN " + look)) {
                plan.next();
                assertThat(Double.parseDouble(plan.getString(1).replaceAll(".*\\.\\.([0-9.]+) .*", "$1")))
                        .isLessThan(20_000);
                do {
                    assertThat(plan.getString(1)).doesNotContain("Seq Scan", "Disabled");
                } while (plan.next());
            }
        }
    }

    /** A renewal of a queue entry that touches no index leaves no garbage in any index. */
    @Test
    void no_index_of_the_waiters_has_the_expiry() {
        open(Duration.ZERO, false);

        assertThat(jdbc.queryForList(
                        "SELECT indexdef FROM pg_indexes WHERE tablename = 'syncguard_locks_waiters'", String.class))
                .isNotEmpty()
                .noneMatch(index -> index.contains("expires_at_ms"));
    }

    private void open(Duration interval, boolean inIsLocked) {
        open(interval, inIsLocked, FenceSettings.from(FenceSource.COUNTER));
    }

    private void open(Duration interval, boolean inIsLocked, FenceSettings fences) {
        backend = new StoreCalls(new PostgresLockBackend(
                dataSource,
                dataSource,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        interval,
                        inIsLocked,
                        fences),
                () -> {},
                time));
    }

    /** Inserts a lease as if it had been granted before, with its counter. */
    private void lease(String key, long endsInMillis) {
        jdbc.update("INSERT INTO syncguard_fence_counters VALUES (?, 7, ?)", "fence:" + key, key);
        jdbc.update("""
                INSERT INTO syncguard_locks
                VALUES (?, ?, syncguard_locks_now() + ?, 0, '000000000000007', ?, 'test')
                """, key, "id of " + key, endsInMillis, key);
    }

    private List<String> leases() {
        return jdbc.queryForList("SELECT key FROM syncguard_locks ORDER BY key", String.class);
    }

    /** Waits: the sweeping thread reads the clock every millisecond, so it has run many times by then. */
    private void assertNothingIsSwept() {
        List<String> before = leases();
        assertThat(before).isNotEmpty();
        Awaitility.await()
                .during(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(10))
                .until(() -> leases().equals(before));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(10)).pollInterval(Duration.ofMillis(5));
    }
}
