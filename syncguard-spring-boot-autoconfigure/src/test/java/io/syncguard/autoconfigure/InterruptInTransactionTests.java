package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * No loss interrupts the end of a transaction: what is rolled back beside the database, such as a Kafka transaction,
 * cannot be rolled back by a thread whose flag is set.
 */
class InterruptInTransactionTests {

    private static final LockRequest ORDER =
            LockRequest.of("order:1").noHeartbeat().onLost(OnLost.INTERRUPT);

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    /** The flag of the thread in each step of the end. */
    private final Map<String, Boolean> flags = new LinkedHashMap<>();

    private ApplicationContext application;

    @AfterEach
    void clearFlag() {
        assertThat(Thread.interrupted()).as("after the body").isFalse();
    }

    @ParameterizedTest
    @ValueSource(classes = {Synchronized.class, Unsynchronized.class})
    void a_refused_commit_does_not_interrupt_its_own_rollback(Class<?> configuration) {
        run(configuration, () -> {
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        inTransaction(application, jdbc -> {
                            recordFlags();
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }))
                    .isInstanceOf(LockLostException.class);

            assertThat(flags).containsKey("rollback").doesNotContainValue(true);
        });
    }

    @Test
    void a_refused_commit_of_a_manager_that_is_no_bean_does_not_interrupt_its_own_rollback() {
        run(Synchronized.class, () -> {
            TransactionTemplate own =
                    new TransactionTemplate(new RecordingManager(application.getBean(DataSource.class), flags));
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        own.executeWithoutResult(transaction -> {
                            locks().executeWithoutResult(ORDER, joined -> recordFlags());
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }))
                    .isInstanceOf(LockLostException.class);

            assertThat(flags).containsKey("rollback").doesNotContainValue(true);
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Synchronized.class, Unsynchronized.class})
    void the_interrupt_of_a_body_that_fails_is_gone_before_the_rollback(Class<?> configuration) {
        run(configuration, () -> {
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        inTransaction(application, jdbc -> {
                            recordFlags();
                            commits.lose(lock);
                            assertThat(Thread.currentThread().isInterrupted()).isTrue();
                            throw new IllegalStateException("fails with the flag set");
                        });
                        return lock;
                    }))
                    .hasMessage("fails with the flag set");

            assertThat(flags).containsKey("rollback").doesNotContainValue(true);
        });
    }

    /** A flag of the application is not ours to clear. */
    @Test
    void the_flag_of_somebody_else_stays() {
        run(Synchronized.class, () -> {
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        inTransaction(application, jdbc -> {
                            recordFlags();
                            Thread.currentThread().interrupt();
                            throw new IllegalStateException("interrupted by the application");
                        });
                        return lock;
                    }))
                    .hasMessage("interrupted by the application");

            assertThat(flags).containsEntry("rollback", true);
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void a_loss_while_the_transaction_ends_interrupts_the_body_after_that() {
        run(Synchronized.class, () -> {
            GuardedCommits.afterThePin(
                    application, () -> commits.lose(LockHandle.current().orElseThrow()));
            LockHandle lock = locks().execute(ORDER, held -> {
                inTransaction(application, jdbc -> recordFlags());
                assertThat(Thread.currentThread().isInterrupted()).as("goes on").isTrue();
                return held;
            });

            assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
            assertThat(flags).containsKey("commit").doesNotContainValue(true);
        });
    }

    /** Its caller may catch the exception, and end a transaction then. */
    @Test
    void a_call_that_throws_because_of_the_loss_leaves_no_flag() {
        run(
                Synchronized.class,
                () -> assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                            commits.takeOver(ORDER);
                            lock.extend(Duration.ofSeconds(30));
                            assertThatThrownBy(() -> lock.bind(() -> {}).run()).isInstanceOf(LockLostException.class);
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                            return lock;
                        }))
                        .isInstanceOf(LockLostException.class));
    }

    private void run(Class<?> configuration, Runnable test) {
        commits.runner()
                .withBean(Flags.class, () -> new Flags(flags))
                .withUserConfiguration(configuration)
                .run(started -> {
                    application = started;
                    test.run();
                });
    }

    private void recordFlags() {
        application.getBean(JdbcTemplate.class).update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                    flags.put("afterCompletion", Thread.currentThread().isInterrupted());
                }
            });
        }
    }

    private LockTemplate locks() {
        return new LockTemplate(application.getBean(LockManager.class));
    }

    private record Flags(Map<String, Boolean> flags) {}

    @Configuration(proxyBeanMethods = false)
    static class Synchronized {

        @Bean
        RecordingManager transactionManager(DataSource dataSource, Flags flags) {
            return new RecordingManager(dataSource, flags.flags());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Unsynchronized {

        @Bean
        RecordingManager transactionManager(DataSource dataSource, Flags flags) {
            RecordingManager manager = new RecordingManager(dataSource, flags.flags());
            manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
            return manager;
        }
    }

    @SuppressWarnings("serial")
    private static final class RecordingManager extends DataSourceTransactionManager {

        private final Map<String, Boolean> flags;

        RecordingManager(DataSource dataSource, Map<String, Boolean> flags) {
            super(dataSource);
            this.flags = flags;
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            flags.put("commit", Thread.currentThread().isInterrupted());
            super.doCommit(status);
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            flags.put("rollback", Thread.currentThread().isInterrupted());
            super.doRollback(status);
        }
    }
}
