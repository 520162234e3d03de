package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.JdbcLockAutoConfiguration;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.embedded.OwnMariaDb;
import io.syncguard.embedded.RunDirectory;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.sql.Connection;
import java.sql.DriverManager;
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
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * The statements of the documents, on the databases of their pages. Those that are regions of a file are run by the
 * tests that read the file.
 */
@Timeout(60)
class SqlBlockTests {

    @Test
    void each_block_of_statements_is_run_here() {
        // ScheduledJobRecipeTests run that of the jobs, and RemovalTests those of docs/run.md.
        assertThat(blocks())
                .extracting(DocumentBlock::page)
                .containsOnly("docs/hanging-lock.md", "docs/jobs.md", "docs/run.md", "docs/security.md");
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

    @Test
    void the_statement_for_mariadb_finds_the_transaction_that_keeps_a_lease() {
        String url = MariaDbServer.newDatabaseUrl();
        application(url).run(context -> {
            JdbcTemplate database = context.getBean(JdbcTemplate.class);
            LockManager locks = context.getBean(LockManager.class);
            LockHandle order = locks.acquire(LockRequest.of("order:42"));
            try (Connection commit = DriverManager.getConnection(url)) {
                commit.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                commit.setAutoCommit(false);
                commit.createStatement()
                        .executeQuery("SELECT lock_id FROM syncguard_leases FORCE INDEX (pin) LOCK IN SHARE MODE");
                assertThat(locks.admin().forceRelease("order:42").remaining()).hasSize(1);

                List<Map<String, Object>> transactions =
                        database.queryForList(block("docs/hanging-lock.md", "SELECT trx_mysql_thread_id"));
                assertThat(transactions)
                        .singleElement()
                        .satisfies(row -> assertThat(row).containsKeys("host", "trx_started"));
                database.execute("KILL " + transactions.get(0).get("trx_mysql_thread_id"));

                await().untilAsserted(() -> assertThat(
                                locks.admin().forceRelease("order:42").released())
                        .hasSize(1));
            }
            assertThat(order.release()).isFalse();
        });
    }

    @Test
    void the_rights_for_mariadb_are_enough_to_lock_and_no_revoke_takes_them_from_a_table() throws SQLException {
        try (OwnMariaDb server = new OwnMariaDb(RunDirectory.newDirectory("mariadb"));
                Connection administrator = DriverManager.getConnection(server.url("test"))) {
            JdbcTemplate database = new JdbcTemplate(new SingleConnectionDataSource(administrator, true));
            database.execute("CREATE DATABASE shop");
            application(server.url("shop")).run(context -> assertThat(context).hasNotFailed());
            database.execute("FLUSH PRIVILEGES"); // The embedded server starts without them.
            database.execute("DROP USER ''@localhost"); // This user has the rights of all users from this host.
            database.execute("CREATE USER orders IDENTIFIED BY 'secret'");
            for (String grant : block("docs/security.md", "GRANT").split(";\\s*")) {
                database.execute(grant);
            }

            application(server.url("shop").replaceFirst("\\?.*", ""))
                    .withPropertyValues("spring.datasource.username=orders", "spring.datasource.password=secret")
                    .run(orders -> {
                        assertThat(orders).hasNotFailed();
                        assertThat(orders.getBean(LockManager.class)
                                        .acquire(LockRequest.of("order:42"))
                                        .release())
                                .isTrue();
                        assertThatThrownBy(
                                        () -> orders.getBean(JdbcTemplate.class).update("DELETE FROM syncguard_keys"))
                                .hasStackTraceContaining("DELETE command denied");
                    });

            database.execute("GRANT ALL ON shop.* TO billing IDENTIFIED BY 'secret'");
            assertThatThrownBy(() -> database.execute("REVOKE DELETE ON shop.syncguard_keys FROM billing"))
                    .hasStackTraceContaining("There is no such grant defined");
        }
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
