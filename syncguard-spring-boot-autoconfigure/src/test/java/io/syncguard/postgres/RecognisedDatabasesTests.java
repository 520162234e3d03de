package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.core.ManualTime;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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
                new PostgresConnections(pool, Duration.ofSeconds(5), new PostgresSearchPath(PostgresTables.DEFAULT)),
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
            limited.createStatement().execute("SET ROLE a_limited_one");
            assertThat(databases.whyNot(limited)).contains("may not lock the rows");

            jdbc.execute("GRANT SELECT, UPDATE ON syncguard_locks, syncguard_locks_shared TO a_limited_one");
            time.advance(Duration.ofMinutes(1));
            assertThat(databases.whyNot(limited)).contains("may not lock the rows");

            time.advance(Duration.ofNanos(1));
            assertThat(databases.whyNot(limited)).isNull();
        } finally {
            jdbc.execute("DROP OWNED BY a_limited_one; DROP ROLE a_limited_one");
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
