package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import io.syncguard.core.ManualTime;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LeasePins;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** How long an answer about a database counts. */
class RecognisedDatabasesTests {

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
    private final HikariDataSource pool = new HikariDataSource();
    private final ManualTime time = new ManualTime();
    private RecognisedDatabases databases;

    @BeforeEach
    void createSchema() {
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT, FenceSource.COUNTER).initialize();
        pool.setJdbcUrl(url);
        databases = new RecognisedDatabases(
                new PostgresConnections(
                        pool,
                        Duration.ofSeconds(5),
                        new PostgresSearchPath(PostgresTables.DEFAULT),
                        new RunningRequests(Time.SYSTEM)),
                PostgresTables.DEFAULT,
                time);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void a_refusal_counts_for_a_minute() throws SQLException {
        jdbc.execute("CREATE ROLE a_limited_one");
        try (Connection limited = connectionTo(url)) {
            limited.createStatement().execute("SET SESSION AUTHORIZATION a_limited_one");
            assertThat(databases.whyNot(limited)).contains("may not lock the rows");

            jdbc.execute("GRANT SELECT (lock_id), UPDATE (owner) ON syncguard_locks, syncguard_locks_shared TO"
                    + " a_limited_one");
            time.advance(Duration.ofMinutes(1));
            assertThat(databases.whyNot(limited)).contains("may not lock the rows");

            time.advance(Duration.ofNanos(1));
            assertThat(databases.whyNot(limited)).isNull();
        } finally {
            jdbc.execute("DROP OWNED BY a_limited_one; DROP ROLE a_limited_one");
        }
    }

    /** The settings are those of the session of the library and of the session of the application. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "quote_all_identifiers = on",
                "TimeZone = 'Asia/Tokyo'",
                "extra_float_digits = 0",
                "standard_conforming_strings = off",
                "array_nulls = off",
                "bytea_output = escape",
                "IntervalStyle = iso_8601",
                "row_security = off",
                "plan_cache_mode = force_generic_plan",
                "transform_null_equals = on",
                "default_transaction_isolation = serializable",
                "search_path = ''",
                "search_path = pg_catalog",
                "search_path = public, pg_catalog"
            })
    void settings_of_a_session_make_no_difference(String setting) throws SQLException {
        jdbc.update("INSERT INTO syncguard_locks VALUES ('key', 'lock id', 0, 0, '0', 'key', 'owner')");
        // The search path of our sessions has to find the tables.
        boolean finds = !setting.startsWith("search_path") || setting.contains("public");
        for (String ours : List.of("SELECT 1", finds ? "SET " + setting : "SELECT 1")) {
            try (HikariDataSource sessions = new HikariDataSource();
                    Connection application = connectionTo(url)) {
                sessions.setJdbcUrl(url);
                sessions.setConnectionInitSql(ours);
                LeasePins pins = new PostgresLockBackend(
                                sessions,
                                sessions,
                                null,
                                new PostgresSettings(
                                        PostgresTables.DEFAULT,
                                        Duration.ofSeconds(5),
                                        PostgresSettings.WAITER_TTL,
                                        Duration.ZERO,
                                        false,
                                        FenceSettings.from(FenceSource.COUNTER)),
                                () -> {})
                        .pins();
                application.createStatement().execute("SET " + setting);
                application.setAutoCommit(false);

                assertThat(pins.whyNot(application)).isNull();
                assertThat(pins.pin(application, List.of("lock id", "another")).lockIds())
                        .containsExactly("lock id");
            }
        }
    }

    @Test
    void the_schema_of_the_tables_may_have_any_name() throws SQLException {
        String schema = "it's a \\ \"schema\"; $1 ?";
        jdbc.execute("ALTER SCHEMA public RENAME TO \"" + schema.replace("\"", "\"\"") + '"');
        pool.setConnectionInitSql("SET search_path TO \"" + schema.replace("\"", "\"\"") + '"');

        try (Connection application = connectionTo(url)) {
            assertThat(databases.whyNot(application)).isNull();
            assertThat(databases.tables().schema()).isEqualTo(schema);
        }
    }

    @Test
    void a_refusal_counts_on_while_the_database_of_the_locks_does_not_answer() throws SQLException {
        try (Connection other = connectionTo(PostgresServer.newDatabaseUrl())) {
            assertThat(databases.whyNot(other)).contains("another database");
            pool.close();
            time.advance(Duration.ofMinutes(2));
            assertThat(databases.whyNot(other)).contains("another database");
        }
    }

    @Test
    void without_an_earlier_answer_the_error_is_reported() throws SQLException {
        pool.close();
        try (Connection other = connectionTo(PostgresServer.newDatabaseUrl())) {
            assertThatThrownBy(() -> databases.whyNot(other)).isInstanceOf(LockBackendException.class);
        }
    }

    private static Connection connectionTo(String url) throws SQLException {
        return PostgresServer.dataSource(url).getConnection();
    }
}
