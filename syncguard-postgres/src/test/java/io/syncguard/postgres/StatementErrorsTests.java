package io.syncguard.postgres;

import static io.syncguard.LockErrorCode.NETWORK_TIMEOUT;
import static io.syncguard.LockErrorCode.SERVICE_UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.PostgresProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An acquire waits at the server for its serialising row, and its statement is ended: what the caller receives, and
 * what stays behind.
 */
@Tag("verification")
class StatementErrorsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private static final String WAITING =
            "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

    private static TestDatabase database;
    private static PostgresProxy proxy;
    private static String role;

    private Connection other;

    @BeforeAll
    static void makeRole() {
        database = TestDatabase.withSchema();
        role = database.newRole();
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
        database.jdbc()
                .queryForMap("SELECT * FROM syncguard_locks_acquire("
                        + "'order:1', false, 1, 'once------------------', 1, 'makes the row', "
                        + "false, NULL, NULL, NULL, NULL, NULL)");
        proxy = new PostgresProxy(database.url());
    }

    @AfterAll
    static void closeProxy() {
        proxy.close();
    }

    @BeforeEach
    void holdTheSerialisingRow() throws SQLException {
        database.jdbc().execute("TRUNCATE syncguard_locks");
        other = database.jdbc().getDataSource().getConnection();
        other.setAutoCommit(false);
        inOther("UPDATE syncguard_fence_counters SET fence = fence + 10");
    }

    @AfterEach
    void close() throws SQLException {
        other.close();
        database.jdbc().execute("ALTER ROLE " + role + " RESET ALL");
    }

    /** What ends the waiting statement, and the error that the caller receives. */
    private enum Fault {
        CANCELLED(NETWORK_TIMEOUT, "57014") {
            @Override
            void happen() {
                database.jdbc().queryForList("SELECT pg_cancel_backend(pid) " + WAITING);
            }
        },
        TERMINATED(SERVICE_UNAVAILABLE, "57P01") {
            @Override
            void happen() {
                database.jdbc().queryForList("SELECT pg_terminate_backend(pid) " + WAITING);
            }
        },
        CUT_OFF(SERVICE_UNAVAILABLE, "08006") {
            @Override
            void happen() {
                proxy.cut();
            }
        },
        RESET(SERVICE_UNAVAILABLE, "08006") {
            @Override
            void happen() {
                proxy.reset();
            }
        },
        /** The lock timeout that our sessions set ends the statement. */
        LEFT_WAITING(NETWORK_TIMEOUT, "55P03") {
            @Override
            void happen() {}
        };

        private final LockErrorCode code;
        private final String state;

        Fault(LockErrorCode code, String state) {
            this.code = code;
            this.state = state;
        }

        abstract void happen();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void the_caller_gets_the_error_and_nothing_stays_behind(Fault fault) {
        run(locks -> {
            CompletableFuture<Throwable> failure = failureOfAcquire(locks);
            awaitWaitingSession();
            fault.happen();

            assertFailedWith(failure, fault.code, fault.state);
            inOther("COMMIT");
            awaitNothingLeft(locks);
        });
    }

    @Test
    void a_deadlock_with_another_session_that_writes_into_the_tables_is_reported() throws Exception {
        inOther("ROLLBACK");
        // The server looks for a deadlock after this time, and ends the session that looked.
        database.jdbc().execute("ALTER ROLE " + role + " SET deadlock_timeout = '1500ms'");
        inOther("SET deadlock_timeout = '1min'; INSERT INTO syncguard_locks VALUES"
                + " ('order:1', 'somebody-else---------', 0, 0, '1', 'order:1', 'somebody else')");
        run(locks -> {
            CompletableFuture<Throwable> failure = failureOfAcquire(locks);
            awaitWaitingSession();
            // Waits for the row that the acquire has locked. The acquire waits for ours, until the server ends it.
            inOther("UPDATE syncguard_fence_counters SET fence = fence + 1");

            assertFailedWith(failure, SERVICE_UNAVAILABLE, "40P01");
            inOther("ROLLBACK");
            awaitNothingLeft(locks);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"serializable", "repeatable read"})
    void a_change_meanwhile_is_no_error_whatever_isolation_the_role_has(String isolation) {
        database.jdbc().execute("ALTER ROLE " + role + " SET default_transaction_isolation = '" + isolation + "'");
        run(locks -> {
            CompletableFuture<LockHandle> lock = CompletableFuture.supplyAsync(() -> locks.acquire(ORDER));
            awaitWaitingSession();
            inOther("COMMIT");

            assertThat(lock)
                    .succeedsWithin(Duration.ofSeconds(10))
                    .satisfies(handle -> assertThat(handle.release()).isTrue());
        });
    }

    private static CompletableFuture<Throwable> failureOfAcquire(LockManager locks) {
        return CompletableFuture.supplyAsync(() -> catchThrowable(() -> locks.acquire(ORDER)));
    }

    private static void assertFailedWith(CompletableFuture<Throwable> failure, LockErrorCode code, String state) {
        assertThat(failure.orTimeout(10, TimeUnit.SECONDS).join())
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code))
                .hasMessageContaining("'order:1'")
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, ex -> assertThat(ex.getSQLState()).isEqualTo(state));
    }

    private static void awaitWaitingSession() {
        await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(10))
                .until(() ->
                        !database.jdbc().queryForList("SELECT pid " + WAITING).isEmpty());
    }

    /** A statement that lost its client runs on at the server, and may grant the lock. */
    private static void awaitNothingLeft(LockManager locks) {
        await().atMost(Duration.ofSeconds(10)).until(() -> database.lockedKeys().isEmpty());
        await().atMost(Duration.ofSeconds(10))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> locks.acquire(ORDER).release());
    }

    private void inOther(String sql) {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        } catch (SQLException ex) {
            throw new AssertionError(ex);
        }
    }

    private static void run(Consumer<LockManager> test) {
        try (LockEngine locks = PooledPostgres.engineOnReady(
                TestDatabase.urlOf(proxy.url(), role), Duration.ofSeconds(5), Duration.ofSeconds(5))) {
            test.accept(locks);
        }
    }
}
