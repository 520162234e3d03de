package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.CommitGuard;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.MariaDbServer;
import java.sql.SQLFeatureNotSupportedException;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A wrapper of connections may lack what only a guard of commits needs. The application works without it. */
class IncompleteConnectionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private static final Supplier<Throwable> REFUSAL = SQLFeatureNotSupportedException::new;
    private static final Supplier<Throwable> NO_METHOD = () -> new AbstractMethodError("no method");
    private static final Supplier<Throwable> NO_OPERATION = () -> new UnsupportedOperationException("no operation");

    /** A driver may name the connection in its message. */
    private static final Supplier<Throwable> CHANGING_WORDS =
            () -> new SQLFeatureNotSupportedException("connection " + UUID.randomUUID());

    static Stream<Arguments> lackedOnPostgres() {
        return Stream.of(
                Arguments.of("createArrayOf", CHANGING_WORDS),
                Arguments.of("getURL", CHANGING_WORDS),
                Arguments.of("createArrayOf", REFUSAL),
                Arguments.of("createArrayOf", NO_OPERATION),
                Arguments.of("getMetaData", NO_METHOD),
                Arguments.of("getMoreResults", REFUSAL),
                Arguments.of("getURL", NO_OPERATION),
                Arguments.of("isWrapperFor", NO_METHOD),
                Arguments.of("setQueryTimeout", REFUSAL));
    }

    static Stream<Arguments> lackedOnMariaDb() {
        return Stream.of(
                Arguments.of("getMetaData", REFUSAL),
                Arguments.of("getURL", NO_METHOD),
                Arguments.of("setQueryTimeout", CHANGING_WORDS));
    }

    @ParameterizedTest
    @MethodSource("lackedOnPostgres")
    void a_commit_on_postgresql_goes_on_unguarded(String method, Supplier<Throwable> lack) {
        IncompleteDataSource incomplete = new IncompleteDataSource(commits.database.dataSource(), lack, method);
        goesOn(commits.runner(), incomplete);
        isRefused(commits.runner(), incomplete);
    }

    /** Only the message differs by the isolation level. */
    @Test
    void a_lock_that_was_lost_does_not_commit_on_a_connection_without_an_isolation_level() {
        IncompleteDataSource incomplete =
                new IncompleteDataSource(commits.database.dataSource(), REFUSAL, "getTransactionIsolation");
        with(
                commits.runner(),
                incomplete,
                (locks, transaction) -> assertThatThrownBy(() -> locks.execute(ORDER, lock -> {
                            transaction.executeWithoutResult(status -> {
                                addOne(incomplete);
                                commits.takeOver(ORDER);
                            });
                            return lock;
                        }))
                        .isInstanceOf(LockLostException.class));
        assertThat(commits.database.amount()).isZero();
    }

    @ParameterizedTest
    @MethodSource("lackedOnMariaDb")
    void a_commit_on_mariadb_goes_on_unguarded(String method, Supplier<Throwable> lack) {
        String url = MariaDbServer.newDatabaseUrl();
        DataSource source = new DriverManagerDataSource(url);
        new JdbcTemplate(source).execute("CREATE TABLE stock (item VARCHAR(9), amount INT) ENGINE = InnoDB");
        new JdbcTemplate(source).execute("INSERT INTO stock VALUES ('apple', 0)");
        IncompleteDataSource incomplete = new IncompleteDataSource(source, lack, method);
        goesOn(Applications.on(url), incomplete);
        isRefused(Applications.on(url), incomplete);
    }

    private static void goesOn(ApplicationContextRunner application, IncompleteDataSource source) {
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            with(application, source, (locks, transaction) -> {
                for (int i = 0; i < 2; i++) {
                    locks.execute(ORDER, lock -> {
                        transaction.executeWithoutResult(status -> addOne(source));
                        return lock;
                    });
                }
            });
            assertThat(log.messages().stream().filter(each -> each.startsWith("Some commits under locks are not")))
                    .hasSize(1)
                    .allSatisfy(message -> assertThat(message).contains("its connection lacks " + source.lacked()));
        }
        assertThat(new JdbcTemplate(source).queryForObject("SELECT amount FROM stock", Integer.class))
                .isEqualTo(2);
    }

    private static void isRefused(ApplicationContextRunner application, IncompleteDataSource source) {
        with(
                application,
                source,
                (locks, transaction) -> assertThatThrownBy(() ->
                                locks.execute(ORDER.commitGuard(CommitGuard.REQUIRED), lock -> {
                                    transaction.executeWithoutResult(status -> addOne(source));
                                    return lock;
                                }))
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("requires that transactions under it are guarded")
                        .hasMessageContaining("its connection lacks " + source.lacked())
                        .extracting(failure -> ((LockException) failure).code())
                        .isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @FunctionalInterface
    private interface Work {
        void run(LockTemplate locks, TransactionTemplate transaction);
    }

    private static void with(ApplicationContextRunner application, DataSource source, Work work) {
        application
                .withBean("other", PlatformTransactionManager.class, () -> new DataSourceTransactionManager(source))
                .run(context -> work.run(
                        new LockTemplate(context.getBean(LockManager.class)),
                        new TransactionTemplate(context.getBean("other", PlatformTransactionManager.class))));
    }

    private static void addOne(DataSource source) {
        new JdbcTemplate(source).update("UPDATE stock SET amount = amount + 1");
    }
}
