package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
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
                var open = new org.springframework.transaction.TransactionStatus[1];
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

    @Test
    void a_rollback_to_an_older_savepoint_undoes_the_work_under_the_lost_lock() {
        run(() -> {
            inTransaction(application, jdbc -> {
                add();
                assertThatThrownBy(() -> nested(() -> locks().execute(ORDER, this::addAndLose)))
                        .isInstanceOf(LockLostException.class);
            });
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void a_rollback_to_a_later_savepoint_does_not_undo_it() {
        run(() -> isRefused(() -> inTransaction(application, jdbc -> {
            assertThatThrownBy(() -> locks().execute(ORDER, lock -> {
                        add();
                        nested(() -> addAndLose(lock));
                        return lock;
                    }))
                    .isInstanceOf(LockLostException.class);
            nestedRollback();
        })));
    }

    @Test
    void work_that_goes_on_under_the_lost_lock_after_the_rollback_is_not_undone() {
        run(() -> isRefused(() -> inTransaction(application, jdbc -> {
            LockHandle[] lock = new LockHandle[1];
            nested(() -> lock[0] = manager().acquire(ORDER));
            assertThatThrownBy(() -> lock[0].bind(() -> {
                                nestedRollback();
                                addAndLose(lock[0]);
                                nestedRollback();
                                add();
                                lock[0].close();
                            })
                            .run())
                    .isInstanceOf(LockLostException.class);
        })));
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

    private void nested(Runnable work) {
        TransactionTemplate nested = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        nested.executeWithoutResult(transaction -> work.run());
    }

    private void nestedRollback() {
        TransactionTemplate nested = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        nested.executeWithoutResult(transaction -> transaction.setRollbackOnly());
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
        PlatformTransactionManager transactionManager(javax.sql.DataSource dataSource) {
            DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
            manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
            return manager;
        }
    }
}
