package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Errors on connections that the library would never give to an application. */
class PostgresLockBackendErrorsTests {

    private static final String LOCK_ID = "mine------------------";
    private static final String OTHER_LOCK_ID = "mine-too--------------";

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
    private final HikariDataSource pool = new HikariDataSource();
    private StoreCalls backend;

    @BeforeEach
    void open() {
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
        pool.setJdbcUrl(url + "&options=-c%20default_transaction_isolation=serializable");
        pool.setMaximumPoolSize(1);
        pool.setConnectionTimeout(250);
        backend = new StoreCalls(new PostgresLockBackend(
                pool,
                pool,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                pool::close));
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void a_pool_whose_connections_are_all_in_use_is_rate_limited() throws SQLException {
        try (Connection taken = pool.getConnection()) {
            assertThat(taken.isValid(1)).isTrue();
            assertFailed(catchThrowable(this::acquire), LockErrorCode.RATE_LIMITED)
                    .hasMessageContainingAll("'order:1'", "syncguard.postgres.pool-size")
                    .hasCauseInstanceOf(SQLTransientConnectionException.class);
        }
        assertThat(acquire()).isInstanceOf(AcquireResult.Granted.class);
    }

    @ParameterizedTest
    @CsvSource({"1, 40001", "1, 40P01"})
    void a_statement_that_the_server_rolled_back_is_sent_once_more(int times, String state) {
        failNext(times, state);

        assertThat(acquire()).isInstanceOf(AcquireResult.Granted.class);
        failNext(times, state);
        assertThat(backend.release(LOCK_ID)).isEqualTo(ReleaseResult.RELEASED);
    }

    @ParameterizedTest
    @CsvSource({"2, 40001", "2, 40P01", "1, 40003", "1, 55P03", "1, P0001"})
    void no_other_one_is(int times, String state) {
        failNext(times, state);

        assertThat(catchThrowable(this::acquire))
                .isInstanceOf(LockBackendException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, ex -> assertThat(ex.getSQLState()).isEqualTo(state));
        assertThat(jdbc.queryForObject("SELECT last_value FROM failures", Integer.class))
                .as("statements")
                .isEqualTo(times);
    }

    /** Statements that change the leases fail as often as this: a sequence counts also what is rolled back. */
    private void failNext(int times, String state) {
        jdbc.execute("""
                DROP SEQUENCE IF EXISTS failures;
                CREATE SEQUENCE failures;
                CREATE OR REPLACE FUNCTION fail() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                BEGIN
                    IF pg_catalog.nextval('public.failures'::TEXT::REGCLASS) <= %s THEN
                        RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '%s';
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE OR REPLACE TRIGGER fail AFTER INSERT OR DELETE ON syncguard_locks EXECUTE FUNCTION fail();
                """.formatted(times, state));
    }

    @Test
    void a_serialization_failure_is_no_error_if_the_isolation_of_our_session_was_changed() throws SQLException {
        acquire();
        jdbc.update("DELETE FROM syncguard_locks");
        try (Connection ours = pool.getConnection();
                Statement statement = ours.createStatement()) {
            statement.execute("SET default_transaction_isolation = 'serializable'");
        }
        CompletableFuture<AcquireResult> result;
        try (Connection other = PostgresServer.dataSource(url).getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE syncguard_fence_counters SET fence = fence + 1");
            result = CompletableFuture.supplyAsync(this::acquire);
            await().atMost(Duration.ofSeconds(10)).until(() -> jdbc.queryForObject("""
                            SELECT EXISTS (
                                SELECT FROM pg_stat_activity
                                WHERE datname = current_database() AND wait_event_type = 'Lock')
                            """, Boolean.class));
            other.commit();
        }
        assertThat(result.orTimeout(10, TimeUnit.SECONDS).join()).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void of_releases_that_went_together_one_fails_alone() {
        acquire();
        backend.acquire(Requests.exclusive("order:2", OTHER_LOCK_ID, Duration.ofSeconds(30), "test"));
        jdbc.execute("""
                CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                BEGIN
                    RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '53200';
                END $$;
                CREATE TRIGGER refuse BEFORE DELETE ON syncguard_locks FOR EACH ROW WHEN (OLD.key = 'order:2')
                    EXECUTE FUNCTION refuse();
                """);

        assertFailed(
                catchThrowable(() ->
                        backend.releaseTogether(List.of(new KeyedLockId(LOCK_ID), new KeyedLockId(OTHER_LOCK_ID)))),
                LockErrorCode.RATE_LIMITED);
        assertThat(jdbc.queryForList("SELECT key FROM syncguard_locks", String.class))
                .containsExactly("order:2");
    }

    @Test
    void a_closed_pool_is_an_error_of_ours() {
        pool.close();

        assertFailed(catchThrowable(this::acquire), LockErrorCode.INTERNAL).hasMessageContaining("'order:1'");
    }

    private AcquireResult acquire() {
        return backend.acquire(Requests.exclusive("order:1", LOCK_ID, Duration.ofSeconds(30), "test"));
    }

    private static AbstractThrowableAssert<?, ?> assertFailed(Throwable failure, LockErrorCode code) {
        return assertThat(failure)
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code));
    }
}
