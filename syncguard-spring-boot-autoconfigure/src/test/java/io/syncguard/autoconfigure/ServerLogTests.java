package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A server that writes the parameters of failed statements to its log writes no lock id there. */
@Timeout(60)
class ServerLogTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ZERO);

    private static OwnPostgres server;

    @BeforeAll
    static void startServer() {
        server = new OwnPostgres(Map.of(
                "fsync",
                "off",
                "logging_collector",
                "on",
                "log_directory",
                "log",
                "lc_messages",
                "C",
                "log_parameter_max_length_on_error",
                "-1"));
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @AfterEach
    void restore() {
        server.jdbc().execute("ALTER TABLE IF EXISTS away RENAME TO syncguard_locks");
        server.jdbc().execute("DELETE FROM syncguard_locks");
    }

    @Test
    void when_a_lock_operation_fails() {
        application().run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            server.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");

            assertThat(catchThrowable(() -> locks.extend(lock.lockId(), Duration.ofSeconds(20))))
                    .isNotNull();

            assertLogHas("\"syncguard_locks\" does not exist", lock);
        });
    }

    /** The statement that pins leases runs in the transaction of the application. */
    @Test
    void when_the_check_before_a_commit_takes_too_long() {
        assertPinFails(
                (jdbc, lock) -> {
                    try {
                        Connection other = server.jdbc().getDataSource().getConnection();
                        other.setAutoCommit(false);
                        try (Statement statement = other.createStatement()) {
                            statement.execute("SELECT FROM syncguard_locks FOR UPDATE");
                        }
                        return other;
                    } catch (SQLException ex) {
                        throw new IllegalStateException(ex);
                    }
                },
                "canceling statement");
    }

    @Test
    void when_the_check_before_a_commit_meets_a_read_only_transaction() {
        assertPinFails(
                (jdbc, lock) -> {
                    jdbc.execute("SET TRANSACTION READ ONLY");
                    return () -> {};
                },
                "in a read-only transaction");
    }

    @Test
    void when_the_check_before_a_commit_lacks_rights() {
        server.jdbc().execute("CREATE ROLE guest");
        assertPinFails(
                (jdbc, lock) -> {
                    jdbc.execute("SET LOCAL ROLE guest");
                    return () -> {};
                },
                "permission denied for table syncguard_locks");
    }

    @Test
    void when_the_check_before_a_commit_finds_the_lease_taken_over() {
        assertPinFails(
                (jdbc, lock) -> {
                    server.jdbc().update("UPDATE syncguard_locks SET lock_id = 'another---------------'");
                    return () -> {};
                },
                "could not serialize access");
    }

    private static void assertPinFails(BiFunction<JdbcTemplate, LockHandle, AutoCloseable> fault, String error) {
        application().run(context -> {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            TransactionTemplate transaction =
                    new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            transaction.setIsolationLevel(TransactionTemplate.ISOLATION_REPEATABLE_READ);
            LockHandle[] held = new LockHandle[1];
            AutoCloseable[] end = {() -> {}};
            Throwable failure =
                    catchThrowable(() -> context.getBean(LockTemplate.class).execute(ORDER, lock -> {
                        held[0] = lock;
                        transaction.executeWithoutResult(status -> {
                            jdbc.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER)");
                            end[0] = fault.apply(jdbc, lock);
                        });
                        return lock;
                    }));
            end[0].close();

            assertLogHas(error, held[0]);
        });
    }

    private static void assertLogHas(String error, LockHandle lock) throws IOException {
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(log()).contains(error));
        assertThat(log()).doesNotContain(lock.lockId());
    }

    private static String log() throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.list(server.data().resolve("log"))) {
            for (Path file : files.toList()) {
                text.append(Files.readString(file, StandardCharsets.UTF_8));
            }
        }
        return text.toString();
    }

    private static ApplicationContextRunner application() {
        return Applications.on(server.url())
                .withPropertyValues("syncguard.postgres.network-timeout=2s", "syncguard.shutdown-timeout=0s");
    }
}
