package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A transaction that worked under a lock does not commit after the loss of the lock, whatever became of its handle. */
class LostInTransactionTests {

    private static final LockRequest ORDER =
            LockRequest.of("order:1").noHeartbeat().onLost(OnLost.NOTIFY);

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private final StockDatabase database = commits.database;

    private ApplicationContext application;

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void a_caller_that_catches_the_loss_cannot_commit(CommitGuard guard) {
        run(
                "syncguard.commit-guard=" + guard,
                () -> isRefused(() -> inTransaction(application, jdbc -> {
                    Stock stock = application.getBean(Stock.class);
                    assertThatThrownBy(() -> stock.add("1", () -> commits.lose(current())))
                            .isInstanceOf(LockLostException.class);
                })));
    }

    @Test
    void not_even_after_it_has_acquired_the_key_again() {
        run(() -> isRefused(() -> inTransaction(application, jdbc -> {
            assertThatThrownBy(() -> locks().execute(ORDER, this::addAndLose)).isInstanceOf(LockLostException.class);
            database.jdbc().update("DELETE FROM syncguard_locks");
            assertThat(locks().<Boolean, RuntimeException>execute(ORDER, LockHandle::isHeld))
                    .isTrue();
        })));
    }

    @Test
    void with_the_guard_off_it_commits() {
        run(() -> inTransaction(
                application,
                jdbc -> assertThatThrownBy(() -> locks().execute(ORDER.commitGuard(CommitGuard.OFF), this::addAndLose))
                        .isInstanceOf(LockLostException.class)));
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void a_handle_that_was_acquired_and_lost_in_it_counts_whether_it_is_released_or_not() {
        run(() -> {
            isRefused(() ->
                    inTransaction(application, jdbc -> addAndLose(manager().acquire(ORDER))));
            isRefused(() -> inTransaction(application, jdbc -> {
                LockHandle lock = manager().acquire(ORDER);
                addAndLose(lock);
                assertThat(lock.release()).isFalse();
            }));
        });
    }

    @Test
    void a_lost_handle_that_was_acquired_before_and_is_released_in_it_counts() {
        run(() -> {
            LockHandle lock = manager().acquire(ORDER);
            isRefused(() -> inTransaction(application, jdbc -> {
                addAndLose(lock);
                assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class);
            }));
        });
    }

    @Test
    void a_lost_handle_that_another_thread_releases_counts() {
        run(() -> isRefused(() -> inTransaction(application, jdbc -> {
            LockHandle lock = manager().acquire(ORDER);
            addAndLose(lock);
            inAnotherThread(lock::release);
        })));
    }

    @Test
    void a_task_that_is_bound_in_it_counts_after_its_end() {
        run(() -> {
            LockHandle lock = manager().acquire(ORDER);
            isRefused(() -> inTransaction(application, jdbc -> {
                lock.bind(() -> add()).run();
                commits.lose(lock);
            }));
            lock.release();
        });
    }

    @Test
    void a_body_in_which_it_began_counts_after_its_end() {
        run(() -> {
            LockHandle lock = manager().acquire(ORDER);
            PlatformTransactionManager transactions = application.getBean(PlatformTransactionManager.class);
            isRefused(() -> {
                var open = new TransactionStatus[1];
                lock.bind(() -> {
                            open[0] = transactions.getTransaction(TransactionDefinition.withDefaults());
                        })
                        .run();
                addAndLose(lock);
                inAnotherThread(lock::release);
                transactions.commit(open[0]);
            });
        });
    }

    /** Else the next holder would work beside it. */
    @Test
    void a_release_by_another_thread_waits_for_it() {
        run(() -> {
            LockHandle lock = manager().acquire(ORDER);
            inTransaction(application, jdbc -> {
                lock.bind(() -> add()).run();
                inAnotherThread(lock::release);
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void a_handle_that_ended_before_it_does_not_count() {
        run(() -> {
            LockHandle released = manager().acquire(ORDER);
            released.release();
            LockHandle lost = manager().acquire(LockRequest.of("order:2").noHeartbeat());
            commits.lose(lost);
            lost.release();
            inTransaction(application, jdbc -> {
                add();
                assertThat(released.release()).isFalse();
                assertThat(lost.release()).isFalse();
                assertThat(catchThrowable(lost.bind(() -> add())::run)).isInstanceOf(LockLostException.class);
            });
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void a_transaction_that_is_suspended_meanwhile_does_not_count() {
        run(() -> {
            inTransaction(application, jdbc -> {
                add();
                TransactionTemplate inner =
                        new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
                inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                assertThatThrownBy(() -> inner.executeWithoutResult(
                                transaction -> commits.lose(manager().acquire(ORDER))))
                        .isInstanceOf(LockLostException.class);
            });
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    /** Nobody knows what the transaction did under the lock before the savepoint. */
    @Test
    void a_rollback_to_a_savepoint_does_not_undo_it() {
        run(() -> isRefused(() -> inTransaction(application, jdbc -> {
            add();
            assertThatThrownBy(() -> nested(() -> locks().execute(ORDER, this::addAndLose)))
                    .isInstanceOf(LockLostException.class);
        })));
    }

    @Test
    void the_transactions_of_two_managers_in_which_the_thread_can_write_are_both_bound() {
        commits.runner().withUserConfiguration(SecondManager.class).run(started -> {
            application = started;
            TransactionTemplate second =
                    new TransactionTemplate(started.getBean("second", PlatformTransactionManager.class));
            inTransaction(started, outer -> {
                second.executeWithoutResult(inner -> locks().execute(ORDER, lock -> {
                    inTransaction(started, joined -> add());
                    return lock;
                }));
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
            database.jdbc().update("UPDATE stock SET amount = 0");

            isRefused(() -> inTransaction(
                    started,
                    outer -> assertThatThrownBy(() ->
                                    second.executeWithoutResult(inner -> locks().execute(ORDER, lock -> {
                                        inTransaction(started, joined -> add());
                                        return commits.takeOver(ORDER);
                                    })))
                            .isInstanceOf(LockLostException.class)));
        });
    }

    /** By an advisor that needs it, or with listeners of the application in place of ours. */
    @ParameterizedTest
    @ValueSource(classes = {EarlyManager.class, ReplacedListeners.class})
    void a_manager_that_no_post_processor_sees_is_guarded_as_well(Class<?> configuration) {
        commits.runner("syncguard.commit-guard=required")
                .withUserConfiguration(configuration)
                .run(started -> {
                    application = started;
                    isRefused(() -> locks().execute(ORDER, lock -> {
                        inTransaction(started, jdbc -> {
                            add();
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }));
                });
    }

    @Test
    void a_manager_of_a_child_context_is_guarded_as_well() {
        commits.runner("syncguard.commit-guard=required").run(started -> {
            application = started;
            try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
                child.setParent(started);
                child.register(ChildManager.class);
                child.refresh();
                TransactionTemplate transaction =
                        new TransactionTemplate(child.getBean("ofChild", PlatformTransactionManager.class));
                isRefused(() -> locks().execute(ORDER, lock -> {
                    transaction.executeWithoutResult(status -> {
                        add();
                        commits.takeOver(ORDER);
                    });
                    return lock;
                }));
            }
        });
    }

    @Test
    void a_manager_that_calls_no_listener_is_named_at_the_start() {
        try (CapturedLog log = new CapturedLog()) {
            commits.runner()
                    .withBean("plain", PlatformTransactionManager.class, PlainManager::new)
                    .run(started -> assertThat(log.messages())
                            .anyMatch(message -> message.contains("The transaction manager 'plain' ("
                                    + PlainManager.class.getName() + ") calls no listeners")));
        }
    }

    @Test
    void a_transaction_that_becomes_read_only_after_it_has_written_cannot_commit() {
        run(() -> {
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        inTransaction(application, jdbc -> {
                            add();
                            jdbc.execute("SET TRANSACTION READ ONLY");
                        });
                        return lock;
                    }))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("was made read-only after it had written");
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void a_conflict_of_serializable_transactions_is_no_loss() {
        database.jdbc().execute("INSERT INTO stock VALUES ('pear', 0)");
        run(() -> {
            TransactionTemplate serializable = serializable();
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        serializable.executeWithoutResult(transaction -> {
                            JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
                            jdbc.queryForList("SELECT amount FROM stock WHERE item = 'pear'");
                            add();
                            inAnotherThread(() -> serializable().executeWithoutResult(other -> {
                                jdbc.queryForList("SELECT amount FROM stock WHERE item = 'apple'");
                                jdbc.update("UPDATE stock SET amount = 1 WHERE item = 'pear'");
                            }));
                        });
                        return lock;
                    }))
                    .isInstanceOf(CannotAcquireLockException.class);
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void a_role_of_the_transaction_that_may_not_lock_the_rows_is_a_reason_not_to_guard() {
        String role = database.newRole();
        database.jdbc().execute("GRANT ALL ON stock TO " + role);
        run(() -> {
            addAs(role, ORDER);
            assertThat(database.amount()).isEqualTo(1);
            assertThatThrownBy(() -> addAs(role, ORDER.commitGuard(CommitGuard.REQUIRED)))
                    .hasMessageContaining("its role may not lock the rows");
            assertThat(database.amount()).isEqualTo(1);

            database.jdbc().update("UPDATE stock SET amount = 0");
            isRefused(() -> locks().execute(ORDER, lock -> {
                inTransaction(application, jdbc -> {
                    add();
                    commits.takeOver(ORDER);
                });
                return lock;
            }));
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void a_manager_without_synchronizations_is_guarded_as_well(CommitGuard guard) {
        commits.runner("syncguard.commit-guard=" + guard)
                .withUserConfiguration(Unsynchronized.class)
                .run(started -> {
                    application = started;
                    isRefused(() -> locks().execute(ORDER, lock -> {
                        inTransaction(application, jdbc -> {
                            add();
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }));
                    isRefused(() -> inTransaction(
                            application,
                            jdbc -> assertThatThrownBy(() -> locks().execute(ORDER, this::addAndLose))
                                    .isInstanceOf(LockLostException.class)));
                    inTransaction(application, jdbc -> {
                        locks().execute(ORDER, lock -> lock);
                        assertThat(database.lockedKeys()).containsExactly("order:1");
                    });
                    assertThat(database.lockedKeys()).isEmpty();
                    assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                                manager().acquire(ORDER).release();
                                throw new IllegalStateException("rolled back");
                            }))
                            .hasMessage("rolled back");
                    assertThat(database.lockedKeys()).isEmpty();
                });
    }

    /** The driver ignores the declaration, so that the transaction writes. */
    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void a_transaction_that_is_declared_as_read_only_and_writes_is_guarded(CommitGuard guard) {
        commits.runner(
                        "syncguard.commit-guard=" + guard,
                        "spring.datasource.url=" + withParameter("readOnlyMode=ignore"))
                .run(started -> {
                    application = started;
                    TransactionTemplate reading =
                            new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
                    reading.setReadOnly(true);
                    isRefused(() -> locks().execute(ORDER, lock -> {
                        reading.executeWithoutResult(transaction -> {
                            add();
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }));
                    locks().executeWithoutResult(ORDER, lock -> reading.executeWithoutResult(transaction -> add()));
                    assertThat(database.amount()).isEqualTo(1);
                });
    }

    @Test
    void a_transaction_that_cannot_write_has_nothing_to_guard() {
        readsUnderLock("spring.datasource.hikari.read-only=true");
        readsUnderLock("spring.datasource.url=" + withParameter("readOnly=true"));
        readsUnderLock("spring.datasource.url=" + withParameter("options=-c%20default_transaction_read_only=on"));
        run("syncguard.commit-guard=required", () -> {
            locks().executeWithoutResult(
                            ORDER,
                            lock -> inTransaction(application, jdbc -> {
                                jdbc.execute("SET TRANSACTION READ ONLY");
                                jdbc.queryForList("SELECT amount FROM stock");
                            }));
            locks().executeWithoutResult(
                            ORDER,
                            lock -> inTransaction(application, jdbc -> {
                                jdbc.execute("CREATE TEMP TABLE seen (amount INTEGER) ON COMMIT DROP");
                                jdbc.execute("SET TRANSACTION READ ONLY");
                                jdbc.update("INSERT INTO seen SELECT amount FROM stock");
                            }));
        });
    }

    private void readsUnderLock(String property) {
        commits.runner("syncguard.commit-guard=required", property).run(started -> {
            application = started;
            locks().executeWithoutResult(
                            ORDER,
                            lock -> inTransaction(application, jdbc -> jdbc.queryForList("SELECT amount FROM stock")));
        });
    }

    /** Nothing of it is committed. */
    private void isRefused(Runnable work) {
        assertThatThrownBy(work::run).isInstanceOf(LockLostException.class).hasMessageContaining("'");
        assertThat(database.amount()).as("committed").isZero();
        commits.releaseTaken();
        database.jdbc().update("DELETE FROM syncguard_locks");
    }

    private void run(Runnable test) {
        run("syncguard.commit-guard=auto", test);
    }

    private void run(String property, Runnable test) {
        commits.runner(property).withBean(Stock.class).run(started -> {
            application = started;
            test.run();
        });
    }

    private void addAs(String role, LockRequest request) {
        locks().executeWithoutResult(
                        request,
                        lock -> inTransaction(application, jdbc -> {
                            jdbc.execute("SET LOCAL ROLE " + role);
                            add();
                        }));
    }

    private TransactionTemplate serializable() {
        TransactionTemplate serializable =
                new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        return serializable;
    }

    private void nested(Runnable work) {
        TransactionTemplate nested = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        nested.executeWithoutResult(transaction -> work.run());
    }

    private LockHandle addAndLose(LockHandle lock) {
        add();
        commits.lose(lock);
        return lock;
    }

    private void add() {
        application.getBean(JdbcTemplate.class).update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }

    private LockTemplate locks() {
        return new LockTemplate(manager());
    }

    private LockManager manager() {
        return application.getBean(LockManager.class);
    }

    private String withParameter(String parameter) {
        return database.url() + (database.url().contains("?") ? "&" : "?") + parameter;
    }

    private static LockHandle current() {
        return LockHandle.current().orElseThrow();
    }

    private static void inAnotherThread(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    static class Stock {

        private final JdbcTemplate jdbc;

        Stock(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @DistributedLock(name = "order", key = "#id", heartbeat = false, onLost = OnLost.NOTIFY)
        public void add(String id, Runnable meanwhile) {
            jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
            meanwhile.run();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Unsynchronized {

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
            manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
            return manager;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondManager {

        @Bean(defaultCandidate = false)
        DataSource secondDataSource(DataSourceProperties properties) {
            return properties.initializeDataSourceBuilder().build();
        }

        @Bean
        @Primary
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }

        @Bean
        PlatformTransactionManager second(@Qualifier("secondDataSource") DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyManager {

        @Bean
        static BeanPostProcessor auditing(PlatformTransactionManager needed) {
            return new BeanPostProcessor() {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ChildManager {

        @Bean
        PlatformTransactionManager ofChild(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReplacedListeners {

        @Autowired
        void replaceListeners(AbstractPlatformTransactionManager manager) {
            manager.setTransactionExecutionListeners(List.of());
        }
    }

    private static final class PlainManager implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            throw new AssertionError("It is not used");
        }

        @Override
        public void commit(TransactionStatus status) {}

        @Override
        public void rollback(TransactionStatus status) {}
    }
}
