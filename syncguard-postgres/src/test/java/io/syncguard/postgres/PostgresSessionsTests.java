package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A session of the library has the library's settings, whatever the defaults of the role and the database are. */
class PostgresSessionsTests {

    /** Settings that a role could have as its defaults. */
    private static final String SPOILED = "&options=-c%20default_transaction_isolation=serializable"
            + "%20-c%20default_transaction_read_only=on%20-c%20synchronous_commit=off%20-c%20lock_timeout=1s";

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource owner = PostgresServer.dataSource(url);
    private final HikariDataSource pool = new HikariDataSource();
    private final PostgresSearchPath searchPath = new PostgresSearchPath(PostgresTables.DEFAULT);

    @BeforeEach
    void connect() {
        new PostgresSchema(owner, PostgresTables.DEFAULT).initialize();
        pool.setJdbcUrl(url + SPOILED);
        pool.setMaximumPoolSize(1);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void it_has_them_whatever_the_defaults_are() throws SQLException {
        PostgresSessions sessions = new PostgresSessions(pool, Duration.ofSeconds(2), searchPath);

        try (Connection connection = sessions.getConnection()) {
            assertThat(sessions.isOurs(connection)).isTrue();
            assertThat(settingsOf(connection))
                    .containsAllEntriesOf(Map.of(
                            "transaction_isolation", "read committed",
                            "transaction_read_only", "off",
                            "synchronous_commit", "on",
                            "statement_timeout", "1800",
                            "lock_timeout", "1600",
                            "enable_seqscan", "off",
                            "enable_bitmapscan", "off",
                            "jit", "off"))
                    .satisfies(all -> assertThat(all.getOrDefault("idle_session_timeout", "0"))
                            .isEqualTo("0"))
                    .satisfies(all -> assertThat(all.getOrDefault("transaction_timeout", "0"))
                            .isEqualTo("0"))
                    .satisfies(all -> assertThat(all.getOrDefault("log_parameter_max_length_on_error", "0"))
                            .isEqualTo("0"));
        }
    }

    @Test
    void it_is_given_them_once() throws SQLException {
        PostgresSessions sessions = new PostgresSessions(pool, Duration.ofSeconds(2), searchPath);
        try (Connection connection = sessions.getConnection()) {
            connection.createStatement().execute("SET lock_timeout = 7");
        }

        try (Connection connection = sessions.getConnection()) {
            assertThat(settingsOf(connection)).containsEntry("lock_timeout", "7");
        }
    }

    @Test
    void a_connection_that_the_pool_has_made_anew_is_given_them_too() throws SQLException {
        PostgresSessions sessions = new PostgresSessions(pool, Duration.ofSeconds(2), searchPath);
        sessions.getConnection().close();
        pool.getHikariPoolMXBean().softEvictConnections();

        try (Connection connection = sessions.getConnection()) {
            assertThat(settingsOf(connection)).containsEntry("lock_timeout", "1600");
        }
    }

    /** Whoever may create a schema could give it the name of the role, which PostgreSQL searches first. */
    @Test
    void a_table_that_is_created_in_front_of_ours_later_is_never_used() throws SQLException {
        PostgresSessions sessions = new PostgresSessions(pool, Duration.ofSeconds(2), searchPath);
        String before = pathOf(sessions);

        new JdbcTemplate(owner).execute("CREATE SCHEMA postgres; CREATE TABLE postgres.syncguard_locks (key TEXT)");
        pool.getHikariPoolMXBean().softEvictConnections();

        assertThat(pathOf(sessions)).isEqualTo(before).isEqualTo("\"public\", pg_temp");
    }

    @Test
    void a_session_that_was_opened_before_the_tables_were_there_is_given_them_when_they_are() throws SQLException {
        new JdbcTemplate(owner).execute("ALTER TABLE syncguard_locks RENAME TO syncguard_gone");
        PostgresSessions sessions = new PostgresSessions(pool, Duration.ofSeconds(2), searchPath);
        try (Connection connection = sessions.getConnection()) {
            assertThat(sessions.isOurs(connection)).isFalse();
        }
        new JdbcTemplate(owner).execute("ALTER TABLE syncguard_gone RENAME TO syncguard_locks");

        try (Connection connection = sessions.getConnection()) {
            assertThat(sessions.isOurs(connection)).isTrue();
            assertThat(settingsOf(connection)).containsEntry("search_path", "\"public\", pg_temp");
        }
    }

    @Test
    void the_tables_may_be_in_two_schemas_one_of_which_is_named() throws SQLException {
        new JdbcTemplate(owner)
                .execute("CREATE SCHEMA counters; ALTER TABLE syncguard_fence_counters SET SCHEMA counters");

        PostgresTables tables = new PostgresTables("syncguard_locks", "Counters.syncguard_fence_counters");
        assertThat(pathOf(new PostgresSessions(pool, Duration.ofSeconds(2), new PostgresSearchPath(tables))))
                .isEqualTo("\"public\", \"counters\", pg_temp");
    }

    private static String pathOf(PostgresSessions sessions) throws SQLException {
        try (Connection connection = sessions.getConnection()) {
            return settingsOf(connection).get("search_path");
        }
    }

    private static Map<String, String> settingsOf(Connection connection) {
        Map<String, String> settings = new HashMap<>();
        new JdbcTemplate(new SingleConnectionDataSource(connection, true))
                .query("SELECT name, setting FROM pg_settings", row -> {
                    settings.put(row.getString(1), row.getString(2));
                });
        return settings;
    }
}
