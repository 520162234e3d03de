package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.CommitGuard;
import io.syncguard.Fence;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.fencing.FenceSchema;
import io.syncguard.testing.OtherSession;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

/** A transaction that fails by the application's own doing fails as it would without locks. */
@Timeout(60)
class FailedTransactionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    /** What an application does in its transaction. */
    enum Mistake {
        CAUGHT_DUPLICATE(jdbc -> fail(jdbc, "INSERT INTO stock VALUES ('apple', 0)")),
        CAUGHT_TWICE(jdbc -> {
            CAUGHT_DUPLICATE.make(jdbc);
            fail(jdbc, "SELECT 1");
        }),
        ITS_STATEMENT_TIMEOUT(jdbc -> {
            jdbc.execute("SET LOCAL statement_timeout = '10ms'");
            fail(jdbc, "SELECT pg_sleep(10)");
        }),
        ITS_LOCK_TIMEOUT(jdbc -> {
            jdbc.execute("SET LOCAL lock_timeout = '10ms'");
            try (OtherSession other = new OtherSession(database.url())) {
                other.run("UPDATE stock SET amount = 1");
                fail(jdbc, "UPDATE stock SET amount = 1");
            }
        }),
        CAUGHT_CONFLICT(jdbc -> {
            jdbc.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            jdbc.queryForList("SELECT amount FROM stock");
            database.jdbc().update("UPDATE stock SET amount = amount");
            fail(jdbc, "UPDATE stock SET amount = 1");
        }),
        DEFERRED_CONSTRAINT(jdbc -> jdbc.execute("INSERT INTO reservations VALUES ('pear'), ('pear')")),
        CLOSED(jdbc -> jdbc.execute((Connection connection) -> {
            ((Connection) connection.unwrap(PGConnection.class)).close();
            return null;
        })),
        TERMINATED(jdbc -> end(jdbc, pid -> database.jdbc().queryForList("SELECT pg_terminate_backend(?)", pid))),
        IDLE_FOR_TOO_LONG(jdbc -> {
            jdbc.execute("SET LOCAL idle_in_transaction_session_timeout = '10ms'");
            end(jdbc, pid -> {});
        });

        private final Consumer<JdbcTemplate> mistake;

        Mistake(Consumer<JdbcTemplate> mistake) {
            this.mistake = mistake;
        }

        void make(JdbcTemplate jdbc) {
            mistake.accept(jdbc);
        }

        private static void fail(JdbcTemplate jdbc, String sql) {
            assertThat(catchThrowable(() -> jdbc.execute(sql))).isInstanceOf(DataAccessException.class);
        }

        private static void end(JdbcTemplate jdbc, Consumer<Integer> action) {
            Integer pid = jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
            action.accept(pid);
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> database.jdbc()
                            .queryForList("SELECT FROM pg_stat_activity WHERE pid = ?", pid)
                            .isEmpty());
        }
    }

    /** The driver alone would report a commit where the server has rolled back. */
    @ParameterizedTest
    @EnumSource
    void its_commit_fails_with_the_error_of_the_application(Mistake mistake) {
        run(application -> {
            Throwable without = catchThrowable(() -> work(application, mistake));
            for (CommitGuard guard : List.of(CommitGuard.AUTO, CommitGuard.REQUIRED)) {
                Throwable failure = catchThrowable(
                        () -> locks(application).execute(ORDER.commitGuard(guard), lock -> work(application, mistake)));
                if (without == null) {
                    assertFailedBefore(failure);
                } else {
                    assertThat(failure)
                            .isInstanceOfAny(DataAccessException.class, TransactionException.class)
                            .isNotInstanceOf(LockException.class);
                }
            }
            assertThatNoException()
                    .as("the next transaction under the lock")
                    .isThrownBy(() -> locks(application).execute(ORDER, lock -> work(application, jdbc -> {})));
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "REQUIRED"})
    void so_it_does_under_a_lock_that_is_acquired_after_the_mistake(CommitGuard guard) {
        run(application -> {
            assertFailedBefore(catchThrowable(() -> work(application, jdbc -> {
                Mistake.CAUGHT_DUPLICATE.make(jdbc);
                locks(application).execute(ORDER.commitGuard(guard), LockHandle::isHeld);
            })));
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"CAUGHT_DUPLICATE", "CLOSED"})
    void a_fence_is_checked_in_it_as_any_statement_runs(Mistake mistake) {
        run(application -> {
            DataSource dataSource = application.getBean(DataSource.class);
            new FenceSchema(dataSource, FenceGuard.DEFAULT_TABLE).initialize();
            FenceGuard fences = new FenceGuard(dataSource);
            Throwable[] failures = new Throwable[2];
            Throwable atTheEnd = catchThrowable(() -> work(application, jdbc -> {
                mistake.make(jdbc);
                // The pool closes a lost connection at the first error.
                catchThrowable(() -> jdbc.execute("SELECT 1"));
                failures[0] = catchThrowable(() -> jdbc.execute("SELECT 1"));
                failures[1] = catchThrowable(() -> fences.check("order:1", new Fence(1)));
            }));
            assertThat(failures[1]).hasSameClassAs(failures[0]);
            assertThat(stateOf(failures[1])).isEqualTo(stateOf(failures[0]));
            assertThat(stateOf(atTheEnd)).as("it cannot commit").isEqualTo(stateOf(failures[1]));
            assertThat(atTheEnd).isNotNull();
        });
    }

    @Test
    void a_transaction_that_is_marked_for_rollback_says_so() {
        run(application -> assertThat(catchThrowable(() -> locks(application)
                        .execute(
                                ORDER,
                                lock -> work(
                                        application,
                                        jdbc -> catchThrowable(() -> work(application, inner -> {
                                            throw new IllegalStateException("caught outside");
                                        }))))))
                .isInstanceOf(UnexpectedRollbackException.class));
    }

    @Test
    void a_pool_without_a_free_connection_is_that_of_the_application() {
        database.runner(
                        "spring.datasource.hikari.maximum-pool-size=1",
                        "spring.datasource.hikari.connection-timeout=250")
                .run(application -> {
                    TransactionTemplate another =
                            new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
                    another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                    Throwable failure = catchThrowable(() -> work(
                            application,
                            jdbc -> locks(application)
                                    .execute(
                                            ORDER.commitGuard(CommitGuard.REQUIRED),
                                            lock -> another.execute(status -> 0))));
                    assertThat(failure).isNotInstanceOf(LockException.class);
                });
    }

    private static void assertFailedBefore(Throwable failure) {
        assertThat(failure)
                .isInstanceOf(DataAccessException.class)
                .hasMessageContaining("current transaction is aborted");
        assertThat(failure.getCause())
                .isInstanceOfSatisfying(
                        SQLException.class,
                        error -> assertThat(error.getSQLState()).isEqualTo("25P02"));
    }

    private static void run(Consumer<ApplicationContext> test) {
        database.jdbc()
                .execute("CREATE TABLE IF NOT EXISTS reservations (item TEXT UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        database.run(test);
    }

    private static int work(ApplicationContext application, Mistake mistake) {
        return work(application, mistake::make);
    }

    private static int work(ApplicationContext application, Consumer<JdbcTemplate> work) {
        StockDatabase.inTransaction(application, work);
        return 0;
    }

    private static String stateOf(Throwable failure) {
        if (failure instanceof SQLException sql) {
            return sql.getSQLState();
        }
        if (failure instanceof TransactionSystemException end && end.getApplicationException() != null) {
            // The rollback of a lost connection fails, too.
            return stateOf(end.getApplicationException());
        }
        return failure == null ? null : stateOf(failure.getCause());
    }

    private static LockTemplate locks(ApplicationContext application) {
        return application.getBean(LockTemplate.class);
    }
}
