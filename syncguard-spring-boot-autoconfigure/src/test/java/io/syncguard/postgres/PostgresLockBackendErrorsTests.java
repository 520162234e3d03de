package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.AcquireRequests;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Errors on connections that the library would never give to an application. */
class PostgresLockBackendErrorsTests {

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
    private final HikariDataSource pool = new HikariDataSource();
    private LockBackend backend;

    @BeforeEach
    void open() {
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
        pool.setJdbcUrl(url + "&options=-c%20default_transaction_isolation=serializable");
        pool.setMaximumPoolSize(1);
        pool.setConnectionTimeout(250);
        backend = new PostgresLockBackend(
                pool,
                pool,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        PostgresBatching.AUTO),
                pool::close);
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

    @Test
    void a_serialization_failure_is_reported_if_the_isolation_of_our_session_was_changed() throws SQLException {
        acquire();
        jdbc.update("DELETE FROM syncguard_locks");
        try (Connection ours = pool.getConnection();
                Statement statement = ours.createStatement()) {
            statement.execute("SET default_transaction_isolation = 'serializable'");
        }
        CompletableFuture<Throwable> failure;
        try (Connection other = PostgresServer.dataSource(url).getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE syncguard_fence_counters SET fence = fence + 1");
            failure = CompletableFuture.supplyAsync(() -> catchThrowable(this::acquire));
            await().atMost(Duration.ofSeconds(10)).until(() -> jdbc.queryForObject("""
                            SELECT EXISTS (
                                SELECT FROM pg_stat_activity
                                WHERE datname = current_database() AND wait_event_type = 'Lock')
                            """, Boolean.class));
            other.commit();
        }
        assertFailed(failure.orTimeout(10, TimeUnit.SECONDS).join(), LockErrorCode.SERVICE_UNAVAILABLE)
                .hasMessageContainingAll("'order:1'", "Try again later")
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, ex -> assertThat(ex.getSQLState()).isEqualTo("40001"));
        assertThat(acquire()).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void a_closed_pool_is_an_error_of_ours() {
        pool.close();

        assertFailed(catchThrowable(this::acquire), LockErrorCode.INTERNAL).hasMessageContaining("'order:1'");
    }

    private AcquireResult acquire() {
        return backend.acquire(
                AcquireRequests.exclusive("order:1", "mine------------------", Duration.ofSeconds(30), "test"));
    }

    private static AbstractThrowableAssert<?, ?> assertFailed(Throwable failure, LockErrorCode code) {
        return assertThat(failure)
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code));
    }
}
