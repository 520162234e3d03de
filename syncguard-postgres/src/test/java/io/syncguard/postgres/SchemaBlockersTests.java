package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Other sessions hold locks while the library sets up its schema. */
class SchemaBlockersTests {

    private static final String OUTDATED =
            "CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'";

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource dataSource = PostgresServer.dataSource(url);

    /** Everybody who may connect may take any advisory lock: all that this server shows while the script runs. */
    @Test
    void a_role_that_may_only_connect_holds_up_neither_the_first_start_nor_an_upgrade() throws SQLException {
        DocumentedRights nobody = DocumentedRights.noneIn(url);
        nobody.grant(new DocumentedRights.Right("CONNECT", "DATABASE shop"));
        try (Connection connection = nobody.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "SELECT pg_advisory_lock(6010928349562529394), pg_advisory_lock(k), pg_advisory_lock(k, k)"
                            + " FROM generate_series(1, 10) AS k");
            statement.execute("SELECT pg_advisory_lock(" + 0x53796e6347756172L + ")");

            assertThatCode(() -> schema().initialize()).doesNotThrowAnyException();
            new JdbcTemplate(dataSource).execute(OUTDATED);
            assertThatCode(() -> schema().initialize()).doesNotThrowAnyException();
        }
        assertThat(takesAdvisoryLocks()).isFalse();
    }

    /** Somebody could take each of them first. */
    private boolean takesAdvisoryLocks() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER).text());
            try (var locks = statement.executeQuery(
                    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")) {
                return locks.next();
            } finally {
                connection.rollback();
            }
        }
    }

    @Test
    void a_first_start_names_the_session_that_has_created_the_table_without_a_commit() throws SQLException {
        assertNamed("CREATE TABLE syncguard_locks (key TEXT)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOCK TABLE syncguard_locks IN SHARE UPDATE EXCLUSIVE MODE",
                "LOCK TABLE syncguard_locks_waiters IN ACCESS EXCLUSIVE MODE",
                "DROP TABLE syncguard_fence_counters",
            })
    void an_upgrade_names_the_session_that_locks_a_table(String lock) throws SQLException {
        schema().initialize();
        new JdbcTemplate(dataSource).execute(OUTDATED);
        // The script has to create an index of the waiters, too.
        new JdbcTemplate(dataSource).execute("DROP INDEX syncguard_locks_waiters_key_arrival_idx");

        assertNamed(lock);
    }

    private void assertNamed(String lock) throws SQLException {
        try (Connection holder = DriverManager.getConnection(url + "&ApplicationName=nightly+job");
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(lock);
            int pid = new JdbcTemplate(dataSource)
                    .queryForObject(
                            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'nightly%job'"
                                    + " AND datname = current_database()",
                            Integer.class);
            String user = new JdbcTemplate(dataSource).queryForObject("SELECT current_user", String.class);

            assertThatExceptionOfType(LockSetupException.class)
                    .isThrownBy(() -> schema().initialize())
                    .withMessageContaining("session " + pid + " (user '" + user + "', application 'nightly")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
            holder.rollback();
        }
        assertThatCode(() -> schema().initialize()).doesNotThrowAnyException();
    }

    private PostgresSchema schema() {
        return new PostgresSchema(
                dataSource,
                new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER),
                null,
                Duration.ofMillis(500));
    }
}
