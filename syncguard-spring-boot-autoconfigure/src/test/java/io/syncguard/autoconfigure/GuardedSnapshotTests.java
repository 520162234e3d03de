package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions that see only what was committed before their first statement. */
@Tag("verification")
class GuardedSnapshotTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private static final int REPEATABLE_READ = TransactionDefinition.ISOLATION_REPEATABLE_READ;

    private static final int SERIALIZABLE = TransactionDefinition.ISOLATION_SERIALIZABLE;

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private final StockDatabase database = commits.database;

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_lock_that_is_older_guards_and_heartbeats_do_not_disturb(int isolation) {
        commits.run(application -> locks(application).execute(ORDER, lock -> {
            inTransaction(application, isolation, jdbc -> {
                add(jdbc);
                assertThat(lock.extend(Duration.ofSeconds(60))).isTrue();
                lock.rotateFence();
            });
            return lock;
        }));
        assertThat(database.amount()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_heartbeat_under_way_does_not_disturb(int isolation) throws Exception {
        try (var heartbeat = database.dataSource().getConnection()) {
            heartbeat.setAutoCommit(false);
            commits.run(application -> locks(application).execute(ORDER, lock -> {
                inTransaction(application, isolation, jdbc -> {
                    add(jdbc);
                    try (var statement = heartbeat.createStatement()) {
                        statement.execute("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms + 1");
                    } catch (java.sql.SQLException ex) {
                        throw new AssertionError(ex);
                    }
                });
                return lock;
            }));
        }
        assertThat(database.amount()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_lock_that_was_taken_over_after_the_first_statement_does_not_commit(int isolation) {
        commits.run(application -> assertThatThrownBy(() -> locks(application).execute(ORDER, lock -> {
                    inTransaction(application, isolation, jdbc -> {
                        add(jdbc);
                        commits.takeOver(ORDER);
                    });
                    return lock;
                }))
                .isInstanceOf(LockLostException.class));
        assertThat(database.amount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_lock_that_was_taken_over_before_the_first_statement_is_reported_as_lost(int isolation) {
        commits.run(application -> assertThatThrownBy(() -> locks(application).execute(ORDER, lock -> {
                    commits.takeOver(ORDER);
                    inTransaction(application, isolation, GuardedSnapshotTests::add);
                    return lock;
                }))
                .isInstanceOf(LockLostException.class));
        assertThat(database.amount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_lock_that_is_acquired_after_the_first_statement_is_refused_with_the_reason(int isolation) {
        commits.run(application -> assertThatThrownBy(() -> inTransaction(application, isolation, jdbc -> {
                    add(jdbc);
                    locks(application).execute(ORDER, LockHandle::fence);
                }))
                .isInstanceOf(LockException.class)
                .isNotInstanceOf(LockLostException.class)
                .hasMessageContaining("first statement")
                .extracting(failure -> ((LockException) failure).code())
                .isEqualTo(LockErrorCode.INVALID_ARGUMENT));
        assertThat(database.amount()).isZero();
        assertThat(database.lockedKeys()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
    void a_lock_that_is_acquired_before_the_first_statement_guards(int isolation) {
        commits.run(application -> inTransaction(application, isolation, jdbc -> {
            locks(application).execute(ORDER, lock -> {
                add(jdbc);
                return lock;
            });
        }));
        assertThat(database.amount()).isEqualTo(1);
    }

    private static void inTransaction(ApplicationContext application, int isolation, Consumer<JdbcTemplate> work) {
        TransactionTemplate transaction =
                new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        transaction.setIsolationLevel(isolation);
        transaction.executeWithoutResult(status -> work.accept(application.getBean(JdbcTemplate.class)));
    }

    private static LockTemplate locks(ApplicationContext application) {
        return new LockTemplate(application.getBean(LockManager.class));
    }

    private static void add(JdbcTemplate jdbc) {
        jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }
}
