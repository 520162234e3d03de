package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.JdbcLockAutoConfiguration;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.ColumnMapRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The statements of the documents, on the databases of their pages. Those that are regions of a file are run by the
 * tests that read the file.
 */
@Timeout(60)
class SqlBlockTests {

    @Test
    void each_block_of_statements_is_run_here() {
        // RemovalTests run those of the last page.
        assertThat(blocks()).extracting(DocumentBlock::page).containsOnly("docs/hanging-lock.md", "docs/run.md");
    }

    @Test
    void the_statements_for_postgres_show_locks_and_end_them() {
        String url = PostgresServer.newDatabaseUrl();
        JdbcTemplate database = new JdbcTemplate(PostgresServer.dataSource(url));
        application(url).run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            PrintedFence.acquire(locks, "order:42");
            assertThat(results(database, block("docs/hanging-lock.md", "SELECT user_key"))
                            .get(0))
                    .singleElement()
                    .satisfies(row -> assertThat(row).containsEntry("user_key", "order:42"));

            results(database, block("docs/hanging-lock.md", "SELECT * FROM syncguard_locks_force_release"));
            assertThat(locks.isLocked("order:42")).isFalse();
        });
    }

    @Test
    void the_statement_for_mariadb_shows_locks() {
        String url = MariaDbServer.newDatabaseUrl();
        application(url).run(context -> {
            JdbcTemplate database = context.getBean(JdbcTemplate.class);
            try (LockHandle order = context.getBean(LockManager.class).acquire(LockRequest.of("order:42"))) {
                assertThat(database.queryForList(block("docs/hanging-lock.md", "SELECT CONVERT")))
                        .singleElement()
                        .satisfies(row -> assertThat(row)
                                .containsEntry("lock_key", "order:42")
                                .containsEntry("fence", order.fence().value()));
            }
        });
    }

    private static List<DocumentBlock> blocks() {
        return DocumentBlock.in("sql").stream()
                .filter(block -> !block.isSample())
                .toList();
    }

    private static String block(String page, String beginning) {
        return blocks().stream()
                .filter(block -> block.page().equals(page) && block.text().startsWith(beginning))
                .findFirst()
                .orElseThrow(() -> new AssertionError(page + " has no block " + beginning))
                .text();
    }

    private static ApplicationContextRunner application(String url) {
        return new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        JdbcLockAutoConfiguration.class,
                        PostgresLockAutoConfiguration.class,
                        SyncGuardAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + url);
    }

    private static List<List<Map<String, Object>>> results(JdbcTemplate database, String statements) {
        return database.execute((Statement statement) -> {
            List<List<Map<String, Object>>> results = new ArrayList<>();
            for (boolean rows = statement.execute(statements);
                    rows || statement.getUpdateCount() >= 0;
                    rows = statement.getMoreResults()) {
                if (rows) {
                    results.add(rows(statement.getResultSet()));
                }
            }
            return results;
        });
    }

    private static List<Map<String, Object>> rows(ResultSet rows) throws SQLException {
        ColumnMapRowMapper mapper = new ColumnMapRowMapper();
        List<Map<String, Object>> mapped = new ArrayList<>();
        while (rows.next()) {
            mapped.add(mapper.mapRow(rows, mapped.size()));
        }
        return mapped;
    }
}
