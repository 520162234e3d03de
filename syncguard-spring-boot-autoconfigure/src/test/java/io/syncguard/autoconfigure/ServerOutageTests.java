package io.syncguard.autoconfigure;

import static io.syncguard.LockErrorCode.AUTH_FAILED;
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
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * A server that stops, recovers, does not know the password or waits for a missing replica, and what callers see of it.
 */
class ServerOutageTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");
    private static final Duration NETWORK_TIMEOUT_OF_OPERATIONS = Duration.ofSeconds(2);
    private static final Duration WAIT_TIME = Duration.ofSeconds(5);

    private static final String SESSIONS =
            "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

    private static final String WAITING_COMMITS = SESSIONS + " AND wait_event = 'SyncRep'";

    private static OwnPostgres server;
    private static JdbcTemplate jdbc;

    @BeforeAll
    static void startServer() throws IOException {
        server = new OwnPostgres();
        jdbc = server.jdbc();
        jdbc.execute("CREATE ROLE locker SUPERUSER LOGIN PASSWORD 'right'");
        Path rules = server.data().resolve("pg_hba.conf");
        Files.writeString(rules, "host all locker 127.0.0.1/32 scram-sha-256\n" + Files.readString(rules));
        jdbc.execute("SELECT pg_reload_conf()");
        await("the server knows the rule")
                .until(() -> catchThrowable(() -> DriverManager.getConnection(server.url("locker", "wrong"))) != null);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @Test
    void a_stopped_server_refuses_locks_and_takes_them_at_the_deadline_until_it_is_back() {
        run(locks -> {
            LockHandle held = locks.acquire(ORDER.key("order:2").ttl(Duration.ofSeconds(1)));
            server.stop();
            try {
                assertFails(() -> locks.acquire(ORDER), SERVICE_UNAVAILABLE)
                        .hasMessageContainingAll("'order:1'", "PostgreSQL", "ry again later");
                awaitLost(held);
            } finally {
                server.start();
            }
            awaitWorks(locks);
        });
    }

    @Test
    void a_server_that_is_shutting_down_refuses_locks_until_it_is_back() throws SQLException {
        try (Connection lastSession = DriverManager.getConnection(server.url())) {
            run(locks -> {
                server.stopWhenUnused();
                endSessionsOfTheApplication(lastSession);
                catchThrowable(() -> locks.isLocked("any"));

                assertFails(() -> locks.acquire(ORDER), SERVICE_UNAVAILABLE)
                        .hasMessageContaining("'order:1'")
                        .satisfies(ex -> assertThat(stateOf(ex)).isEqualTo("57P03"));

                close(lastSession);
                server.awaitStopped();
                server.start();
                awaitWorks(locks);
            });
        }
    }

    @Test
    void a_standby_refuses_locks_and_takes_them_at_the_deadline_until_it_is_promoted() {
        run(locks -> {
            LockHandle held = locks.acquire(ORDER.key("order:2").ttl(Duration.ofSeconds(1)));
            server.stop();
            server.startAsStandby();
            try {
                await().atMost(Duration.ofSeconds(20))
                        .untilAsserted(() -> assertFails(() -> locks.acquire(ORDER), SERVICE_UNAVAILABLE)
                                .hasMessageContainingAll("'order:1'", "does not serve writes")
                                .satisfies(ex -> assertThat(stateOf(ex)).isEqualTo("25006")));
                awaitLost(held);
                assertThat(locks.isLocked("order:1")).as("reading works").isFalse();
            } finally {
                server.promote();
            }
            awaitWorks(locks);
        });
    }

    @Test
    void an_application_does_not_start_on_a_standby_and_says_why_with_and_without_the_tables() {
        run(locks -> {});
        server.stop();
        server.startAsStandby();
        try {
            assertRefused(runner());
            assertRefused(runner().withPropertyValues("syncguard.postgres.schema-management=none"));
            assertRefused(runner().withPropertyValues(
                            "syncguard.postgres.locks-table=new_locks",
                            "syncguard.postgres.fence-counters-table=new_counters"));
        } finally {
            server.promote();
        }
    }

    private static void assertRefused(ApplicationContextRunner runner) {
        runner.run(application -> assertThat(application)
                .getFailure()
                .hasStackTraceContaining("The DataSource leads to a standby or a reader endpoint")
                .hasStackTraceContaining("does not serve writes")
                .hasStackTraceContaining("@SyncGuardDataSource"));
    }

    @Test
    void a_changed_password_is_reported_until_it_is_the_old_one_again() {
        run(
                locks -> {
                    jdbc.execute("ALTER ROLE locker PASSWORD 'changed'");
                    jdbc.queryForList("SELECT pg_terminate_backend(pid) " + SESSIONS);
                    await().until(() ->
                            jdbc.queryForList("SELECT pid " + SESSIONS).isEmpty());
                    catchThrowable(() -> locks.isLocked("any"));

                    assertFails(() -> locks.acquire(ORDER), AUTH_FAILED)
                            .hasMessageContainingAll(
                                    "'order:1'", "PostgreSQL refuses the user", "spring.datasource.password")
                            .satisfies(ex -> assertThat(stateOf(ex)).isEqualTo("28P01"));

                    jdbc.execute("ALTER ROLE locker PASSWORD 'right'");
                    awaitWorks(locks);
                },
                "spring.datasource.url=" + server.url("locker", "right"));
    }

    @Test
    void a_grant_whose_session_was_ended_after_the_commit_is_released() {
        run(locks -> {
            locks.acquire(ORDER).release();
            long fence = fence();
            whileNoCommitIsReplicated(() -> {
                CompletableFuture<Integer> killed = CompletableFuture.supplyAsync(ServerOutageTests::endTheCommit);

                assertFails(() -> locks.acquire(ORDER), SERVICE_UNAVAILABLE).hasMessageContaining("'order:1'");

                assertThat(killed).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(1);
                awaitGrantedAndReleased(fence);
            });
        });
    }

    @Test
    void a_grant_that_the_server_commits_after_its_client_gave_up_is_released() {
        run(
                locks -> {
                    locks.acquire(ORDER).release();
                    long fence = fence();
                    // The statement ends in time, and no limit of the server covers the wait of its commit.
                    whileNoCommitIsReplicated(() -> assertFails(
                                    () -> locks.acquire(ORDER.ttl(Duration.ofSeconds(1))), NETWORK_TIMEOUT)
                            .hasMessageContaining("'order:1'"));

                    awaitGrantedAndReleased(fence);
                },
                "syncguard.postgres.network-timeout=6s");
    }

    /** Each durable commit waits for a replica that does not exist; then it is done all the same. */
    private static void whileNoCommitIsReplicated(Runnable work) {
        jdbc.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
        jdbc.execute("SELECT pg_reload_conf()");
        try {
            await("a commit that waits").until(ServerOutageTests::commitWaits);
            work.run();
        } finally {
            jdbc.execute("ALTER SYSTEM RESET synchronous_standby_names");
            jdbc.execute("SELECT pg_reload_conf()");
        }
    }

    private static boolean commitWaits() {
        JdbcTemplate durable =
                new JdbcTemplate(PostgresServer.dataSource(server.url() + "&options=-c%20synchronous_commit=on"));
        CompletableFuture<Void> commit = CompletableFuture.runAsync(
                () -> durable.queryForList("SELECT pg_logical_emit_message(true, 'something', 'to commit')"));
        await().atMost(Duration.ofSeconds(10))
                .until(() -> commit.isDone()
                        || !jdbc.queryForList("SELECT pid " + WAITING_COMMITS).isEmpty());
        boolean waits = !commit.isDone();
        jdbc.queryForList("SELECT pg_cancel_backend(pid) " + WAITING_COMMITS);
        commit.join();
        return waits;
    }

    /** Ends the session whose commit waits, and returns the number of such sessions. */
    private static int endTheCommit() {
        return await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(10))
                .until(
                        () -> jdbc.queryForList("SELECT pg_terminate_backend(pid) " + WAITING_COMMITS)
                                .size(),
                        ended -> ended > 0);
    }

    /** A fence that was drawn proves the commit. */
    private static void awaitGrantedAndReleased(long fenceBefore) {
        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            assertThat(fence()).isEqualTo(fenceBefore + 1);
            assertThat(lockedKeys()).isEmpty();
        });
    }

    private static long fence() {
        return jdbc.queryForObject(
                "SELECT fence FROM syncguard_fence_counters WHERE key_debug = 'order:1'", Long.class);
    }

    private static List<String> lockedKeys() {
        return jdbc.queryForList("SELECT key FROM syncguard_locks WHERE key = 'order:1'", String.class);
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
            ThrowingCallable operation, LockErrorCode code) {
        long began = System.nanoTime();
        Throwable failure = catchThrowable(operation);
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isLessThan(WAIT_TIME.plus(NETWORK_TIMEOUT_OF_OPERATIONS));
        return assertThat(failure)
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code));
    }

    /** Its heartbeats fail, and the handle needs no reply to detect its deadline. */
    private static void awaitLost(LockHandle held) {
        await().atMost(Duration.ofSeconds(10)).until(() -> held.state() == LockHandle.State.LOST);
    }

    private static void awaitWorks(LockManager locks) {
        await().atMost(Duration.ofSeconds(20))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> locks.acquire(ORDER).release());
        assertThat(lockedKeys()).isEmpty();
    }

    /** A session that began before the server knew of its shutdown is ended, too. A later one is refused. */
    private static void endSessionsOfTheApplication(Connection lastSession) {
        JdbcTemplate last = new JdbcTemplate(new SingleConnectionDataSource(lastSession, true));
        await().until(() -> last.queryForList("SELECT pg_terminate_backend(pid) " + SESSIONS)
                .isEmpty());
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException ex) {
            throw new AssertionError(ex);
        }
    }

    private static String stateOf(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() instanceof SQLException deeper) {
            cause = deeper;
        }
        return ((SQLException) cause).getSQLState();
    }

    private static void run(Consumer<LockManager> test, String... properties) {
        runner().withPropertyValues(properties).run(application -> test.accept(application.getBean(LockManager.class)));
    }

    private static ApplicationContextRunner runner() {
        return Applications.on(server.url())
                .withPropertyValues(
                        "syncguard.postgres.pool-size=1",
                        "syncguard.postgres.network-timeout=" + NETWORK_TIMEOUT_OF_OPERATIONS.toMillis() + "ms",
                        "syncguard.wait-time=" + WAIT_TIME.toMillis() + "ms",
                        "syncguard.shutdown-timeout=0s");
    }
}
