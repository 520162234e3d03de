package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The constants and formats of the script cost nothing: the planner inlines them into the statements, including index
 * conditions.
 */
class PostgresInlinedFunctionsTests {

    private static final HikariDataSource dataSource = new HikariDataSource();
    private static final JdbcTemplate jdbc = new JdbcTemplate(dataSource);

    @BeforeAll
    static void makeSchema() {
        dataSource.setJdbcUrl(PostgresServer.newDatabaseUrl());
        dataSource.setMaximumPoolSize(1);
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
        jdbc.execute("SET enable_seqscan = off; SET enable_bitmapscan = off");
    }

    @AfterAll
    static void close() {
        dataSource.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT fence FROM syncguard_fence_counters WHERE fence_key = syncguard_locks_fence_key('k')",
                "SELECT key FROM syncguard_locks_shared WHERE key = 'k' AND syncguard_locks_is_live(expires_at_ms,"
                        + " 5000)",
                "SELECT key FROM syncguard_locks_shared WHERE key = 'k' AND NOT"
                        + " syncguard_locks_is_live(expires_at_ms, 5)",
                "SELECT key FROM syncguard_locks WHERE expires_at_ms < (SELECT syncguard_locks_sweep_before())",
            })
    void in_the_condition_of_an_index(String query) {
        List<String> plan = plan(query);

        assertThat(plan)
                .anyMatch(line -> line.contains("Index Cond"))
                .noneMatch(line -> line.contains("Filter"))
                .noneMatch(line -> line.matches(".*syncguard_locks_[a-z_]+\\(.*"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard_locks_tolerance()",
                "syncguard_locks_last_fence()",
                "syncguard_locks_now()",
                "syncguard_locks_fence_source()",
                "syncguard_locks_fence_after(fence, syncguard_locks_now())",
                "syncguard_locks_sweep_before()",
                "syncguard_locks_fence_text(fence)",
                "syncguard_locks_fence_key(key_debug)",
                "syncguard_locks_key_of_fence(fence_key)",
                "syncguard_locks_is_live(fence, syncguard_locks_now())",
                "syncguard_locks_outcome(fence)",
                "syncguard_locks_poll(fence)"
            })
    void in_what_is_selected(String expression) {
        assertThat(plan("SELECT " + expression + " FROM syncguard_fence_counters"))
                .anyMatch(line -> line.contains("Output"))
                .noneMatch(line -> line.contains("syncguard_locks_"));
    }

    private static List<String> plan(String query) {
        return jdbc.queryForList("EXPLAIN (VERBOSE, COSTS OFF) " + query, String.class);
    }
}
