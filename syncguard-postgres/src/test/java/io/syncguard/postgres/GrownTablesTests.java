package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * A session keeps the plans that it made while the tables were empty: they must also be efficient when the tables have
 * grown.
 */
class GrownTablesTests {

    private static final int ROWS = 2000;

    /** The server makes a general plan at the sixth call. */
    private static final int CALLS = 8;

    private static final List<String> TABLES =
            List.of("syncguard_locks", "syncguard_locks_shared", "syncguard_locks_waiters", "syncguard_fence_counters");

    private static final String ROWS_READ = """
            SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables
            """;

    /** By the clock, so that counters are forgotten. */
    private final TestDatabase database = TestDatabase.withSchema(FenceSource.CLOCK);

    private final LockSessions sessions = new LockSessions(PostgresServer.dataSource(database.url()));

    @BeforeEach
    void let_the_server_know_that_the_tables_are_empty() {
        TABLES.forEach(table -> database.jdbc().execute("ALTER TABLE " + table + " SET (autovacuum_enabled = off)"));
        database.jdbc().execute("VACUUM ANALYZE");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard_locks_acquire_free('free', 'n', 9, '')",
                "syncguard_locks_acquire_free('k9', 'n', 9, '')",
                "syncguard_locks_acquire_free_batch(ARRAY['free', 'new', 'k9'], ARRAY['1', '2', '3'], ARRAY[9, 9, 9],"
                        + " ARRAY['', '', ''])",
                "syncguard_locks_delete_lease('k9', 'id9', false)",
                "syncguard_locks_delete_lease('s9', 'shared9', false)",
                "syncguard_locks_acquire('free', false, 1, 'n', 9, '', false, NULL, NULL, NULL, NULL, NULL)",
                "syncguard_locks_acquire_batch(ARRAY['free', 'new', 'k9', 's9'], ARRAY['1', '2', '3', '4'],"
                        + " ARRAY[9, 9, 9, 9], ARRAY['', '', '', ''], ARRAY[false, false, false, false],"
                        + " ARRAY[NULL, NULL, 1, 1]::bigint[], ARRAY[NULL, NULL, NULL, NULL],"
                        + " ARRAY[false, false, false, false], 5000, 'c', false, NULL)",
                "syncguard_locks_acquire_batch(ARRAY['k9', 'k8'], ARRAY['w9', 'w8'], ARRAY[9, 9], ARRAY['', ''],"
                        + " ARRAY[true, true], ARRAY[1, NULL]::bigint[], ARRAY[NULL, NULL], ARRAY[false, false],"
                        + " 5000, 'c', false, NULL)",
                "syncguard_locks_acquire_readers(ARRAY['s9', 's9', 'k9'], ARRAY[NULL, 1, 2]::integer[],"
                        + " ARRAY['1', '2', '3'], ARRAY[9, 9, 9], ARRAY['', '', ''], ARRAY[false, false, false],"
                        + " ARRAY[1, 1, 1]::bigint[],"
                        + " ARRAY[NULL, NULL, NULL], ARRAY[false, false, false], 5000, 'c')",
                "syncguard_locks_acquire('free', false, 1, 'n', 9, '', false, 1, 5000, false, 'c', NULL)",
                "syncguard_locks_acquire('k9', false, 1, 'n', 9, '', false, NULL, NULL, NULL, NULL, NULL)",
                "syncguard_locks_acquire('s9', false, 1, 'n', 9, '', false, NULL, NULL, NULL, NULL, NULL)",
                "syncguard_locks_acquire('s9', true, NULL, 'n', 9, '', false, NULL, NULL, NULL, NULL, NULL)",
                "syncguard_locks_acquire('k9', true, NULL, 'n', 9, '', false, 1, 5000, false, 'c', NULL)",
                "syncguard_locks_acquire('many', true, NULL, 'n', 9, '', false, 1, 5000, false, 'c', NULL)",
                "syncguard_locks_acquire('k9', false, 1, 'w9', 9, '', true, 1, 5000, false, 'c', NULL)",
                "syncguard_locks_acquire('k9', false, 1, 'w9', 9, '', true, NULL, NULL, NULL, NULL, NULL)",
                "syncguard_locks_renew_waiters(ARRAY['w9'])",
                "syncguard_locks_extend(ARRAY['id9'], ARRAY[90000]::bigint[])",
                "syncguard_locks_extend(ARRAY['id9'], ARRAY[2000]::bigint[])",
                "syncguard_locks_extend(ARRAY['shared9'], ARRAY[2000]::bigint[])",
                "syncguard_locks_rotate('id9', 2000)",
                "hand-over of id9",
                "hand-over of shared9",
                "hand-over of w9",
                "syncguard_locks_release('id9')",
                "syncguard_locks_release_after('id9', 1)",
                "syncguard_locks_force_release('k9')",
                "syncguard_locks_force_release('s9')",
                "syncguard_locks_release_all(ARRAY['id9', 'shared8', 'w7'])",
                "syncguard_locks_release_batch(ARRAY['id9', 'shared8', 'shared7'], 'c')",
                "syncguard_locks_release_batch(ARRAY['many8', 'many7'], 'c')",
                "syncguard_locks_release('many9')",
                "syncguard_locks_extend(ARRAY['many9', 'many8'], ARRAY[2000, 90000]::bigint[])",
                "syncguard_locks_release_after('many9', 1)",
                "syncguard_locks_sweep(ARRAY['k9'])",
                "syncguard_locks_forget('fence:s99', 604800000)"
            })
    void an_operation_reads_no_other_keys(String call) throws SQLException {
        try (Connection connection = sessions.open()) {
            connection.setAutoCommit(false);
            JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
            for (int i = 0; i < CALLS; i++) {
                session.queryForList(statement(call));
                connection.rollback();
            }
            fillTheTables();

            assertThat(session.queryForList(statement(call))).isNotEmpty();

            assertThat(session.queryForObject(ROWS_READ, Long.class))
                    .isPositive()
                    .isLessThan(ROWS / 10);
            connection.rollback();
        }
    }

    /** A hand-over with three requests that queue. */
    private static String statement(String call) {
        return call.startsWith("hand-over of ")
                ? """
                CALL syncguard_locks_queue_and_hand_over('%s', 'c', false, 'k', ARRAY['1', '2', '3'],
                    ARRAY[false, true, false], ARRAY[1, NULL, 1], ARRAY['', '', ''], ARRAY[1, 2, 3]::bigint[],
                    ARRAY[NULL, NULL, NULL], ARRAY[true, false, true], 5000, NULL, NULL, NULL)
                """.formatted(call.substring("hand-over of ".length()))
                : "SELECT * FROM " + call;
    }

    /** Compilation takes longer than any statement of ours, and would make some of them exceed their time limit. */
    @Test
    void nothing_is_compiled_before_it_runs() throws SQLException {
        database.jdbc().execute("ALTER DATABASE " + database.name() + " SET jit = on");

        try (Connection connection = sessions.open()) {
            JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
            assertThat(session.queryForObject("SHOW jit", String.class)).isEqualTo("off");
        }
    }

    /** A lease of 30 s and a waiter for each key, and a shared lease for each of as many others. */
    private void fillTheTables() throws SQLException {
        DataSource other = Objects.requireNonNull(database.jdbc().getDataSource());
        try (Connection connection = other.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(String.format("""
                    INSERT INTO syncguard_fence_counters SELECT 'fence:k' || n, 1, 'k' || n
                    FROM generate_series(1, %1$s) n;
                    INSERT INTO syncguard_fence_counters VALUES ('fence:free', 1, 'free');
                    INSERT INTO syncguard_fence_counters SELECT 'fence:s' || n, 1, 's' || n
                    FROM generate_series(1, %1$s) n;
                    INSERT INTO syncguard_locks
                    SELECT 'k' || n, 'id' || n, syncguard_locks_now() + 30000, 0, lpad('1', 15, '0'), 'k' || n, ''
                    FROM generate_series(1, %1$s) n;
                    INSERT INTO syncguard_locks_shared
                    SELECT 'shared' || n, 's' || n, syncguard_locks_now() + 30000, 0, lpad('1', 15, '0'), 's' || n, ''
                    FROM generate_series(1, %1$s) n;
                    INSERT INTO syncguard_locks_shared
                    SELECT 'many' || n, 'many', syncguard_locks_now() + 30000, 0, lpad('1', 15, '0'), 'many', ''
                    FROM generate_series(1, %1$s) n;
                    INSERT INTO syncguard_fence_counters VALUES ('fence:many', 1, 'many');
                    INSERT INTO syncguard_locks_waiters
                        (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, channel, waiter)
                    SELECT 'w' || n, 'k' || n, 0, false, syncguard_locks_now() + 30000, 5000, true, 'c', n
                    FROM generate_series(1, %1$s) n
                    """, ROWS));
        }
    }
}
