package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.StatementCounter;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** A transaction commits only while the locks are held under which it runs. */
class GuardedCommitTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private final StockDatabase database = commits.database;

    @Test
    void a_transaction_of_a_body_whose_lock_was_taken_over_is_rolled_back() {
        commits.run(application -> {
            isRefused(() -> locks(application).execute(ORDER, lock -> {
                inTransaction(application, jdbc -> {
                    add(jdbc);
                    commits.takeOver(ORDER);
                    assertThat(lock.isHeld()).as("the holder does not know it").isTrue();
                });
                return lock;
            }));
        });
    }

    @Test
    void with_the_guard_off_it_commits_beside_the_new_holder() {
        commits.run(application -> {
            assertThatThrownBy(() -> locks(application).execute(ORDER.commitGuard(CommitGuard.OFF), lock -> {
                        inTransaction(application, jdbc -> {
                            add(jdbc);
                            commits.takeOver(ORDER);
                        });
                        return lock;
                    }))
                    .as("at the end of the body")
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void with_the_guard_off_it_commits_even_if_the_loss_is_known() {
        commits.run(application -> assertThatThrownBy(() -> locks(application)
                        .execute(ORDER.noHeartbeat().commitGuard(CommitGuard.OFF), lock -> {
                            commits.lose(lock);
                            inTransaction(application, GuardedCommitTests::add);
                            return lock;
                        }))
                .as("at the end of the body")
                .isInstanceOf(LockLostException.class));
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void a_lease_that_lapsed_and_was_taken_by_nobody_does_not_commit_either() {
        commits.run(application -> isRefused(() -> locks(application).execute(ORDER.noHeartbeat(), lock -> {
            inTransaction(application, jdbc -> {
                add(jdbc);
                StockDatabase.lapse(lock);
            });
            return lock;
        })));
    }

    @Test
    void an_annotated_transactional_method_is_guarded() {
        commits.runner().withBean(Stock.class).run(application -> {
            Stock stock = application.getBean(Stock.class);
            isRefused(() -> stock.add("1", () -> commits.takeOver(ORDER)));
            isRefused(() -> stock.read("1", () -> commits.takeOver(ORDER)));
            assertThatThrownBy(() -> stock.addUnguarded("2", () -> commits.takeOver(LockRequest.of("order:2"))))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).as("of the unguarded method").isEqualTo(1);
        });
    }

    @Test
    void a_transaction_that_began_before_the_lock_was_acquired_is_guarded() {
        commits.run(application -> isRefused(() -> inTransaction(application, jdbc -> {
            add(jdbc);
            locks(application).execute(ORDER, lock -> lock);
            commits.takeOver(ORDER);
        })));
    }

    @Test
    void a_transaction_that_outlives_the_body_is_guarded() {
        commits.run(application -> {
            PlatformTransactionManager transactions = application.getBean(PlatformTransactionManager.class);
            TransactionStatus open = locks(application)
                    .execute(ORDER, lock -> transactions.getTransaction(TransactionDefinition.withDefaults()));
            add(application.getBean(JdbcTemplate.class));
            commits.takeOver(ORDER);
            isRefused(() -> transactions.commit(open));
        });
    }

    @Test
    void each_of_two_nested_transactions_is_guarded() {
        commits.run(application -> {
            TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            database.jdbc().execute("INSERT INTO stock VALUES ('pear', 0)");
            isRefused(() -> locks(application).execute(ORDER, lock -> {
                inTransaction(application, jdbc -> {
                    add(jdbc);
                    inner.executeWithoutResult(
                            transaction -> jdbc.update("UPDATE stock SET amount = 2 WHERE item = 'pear'"));
                    commits.takeOver(ORDER);
                });
                return lock;
            }));
            assertThat(pears()).as("committed while the lock was held").isEqualTo(2);

            assertThatThrownBy(() -> locks(application).execute(LockRequest.of("order:2"), lock -> {
                        inTransaction(application, jdbc -> {
                            commits.takeOver(LockRequest.of("order:2"));
                            inner.executeWithoutResult(
                                    transaction -> jdbc.update("UPDATE stock SET amount = 3 WHERE item = 'pear'"));
                        });
                        return lock;
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(pears()).isEqualTo(2);
        });
    }

    @Test
    void the_loss_of_any_of_several_nested_locks_rolls_back() {
        LockRequest item = LockRequest.of("item:1");
        for (LockRequest lost : new LockRequest[] {ORDER, item}) {
            commits.run(application -> isRefused(() -> locks(application)
                    .execute(
                            ORDER,
                            outer -> locks(application).execute(item, lock -> {
                                inTransaction(application, jdbc -> {
                                    add(jdbc);
                                    commits.takeOver(lost);
                                });
                                return lock;
                            }))));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    void a_shared_lease_guards_as_well_with_permits_or_without(int permits) {
        LockRequest shared = permits == 0 ? ORDER.shared() : ORDER.permits(permits);
        commits.run(application -> isRefused(() -> locks(application).execute(shared, lock -> {
            inTransaction(application, jdbc -> {
                add(jdbc);
                commits.takeOver(ORDER);
            });
            return lock;
        })));
    }

    /** The lease of a holder that commits is locked: it counts until it is deleted. */
    @Test
    void two_commit_under_two_permits_at_once_and_nobody_gets_a_third() {
        commits.run(application -> {
            locks(application).execute(ORDER.permits(2), lock -> {
                inTransaction(application, jdbc -> {
                    add(jdbc);
                    LockManager others = commits.others();
                    try (LockHandle second = others.acquire(ORDER.permits(2))) {
                        assertThat(second.fence()).isGreaterThan(lock.fence());
                        assertThat(others.tryAcquire(ORDER.permits(2))).isNull();
                    }
                });
                return lock;
            });
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void a_body_that_another_thread_runs_is_guarded_there() {
        commits.run(application -> isRefused(() -> locks(application).execute(ORDER, lock -> {
            Thread thread = new Thread();
            java.util.concurrent.FutureTask<Object> work = new java.util.concurrent.FutureTask<>(lock.bind(() -> {
                inTransaction(application, jdbc -> {
                    add(jdbc);
                    commits.takeOver(ORDER);
                });
                return lock;
            }));
            new Thread(work).start();
            try {
                return work.get();
            } catch (java.util.concurrent.ExecutionException ex) {
                throw (Exception) ex.getCause();
            }
        })));
    }

    @Test
    void a_lock_that_another_process_released_by_its_lock_id_does_not_commit() {
        commits.run(application -> isRefused(() -> locks(application).execute(ORDER, lock -> {
            inTransaction(application, jdbc -> {
                add(jdbc);
                assertThat(commits.others().release(lock.lockId())).isTrue();
            });
            return lock;
        })));
    }

    @Test
    void a_rollback_to_a_savepoint_does_not_undo_the_guard() {
        commits.run(application -> {
            TransactionTemplate nested = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
            isRefused(() -> locks(application).execute(ORDER, lock -> {
                inTransaction(application, jdbc -> {
                    add(jdbc);
                    nested.executeWithoutResult(transaction -> transaction.setRollbackOnly());
                    commits.takeOver(ORDER);
                });
                return lock;
            }));
        });
    }

    @Test
    void the_guard_of_all_locks_costs_one_statement_and_so_does_a_transaction_that_is_declared_as_read_only() {
        StatementCounter counted = new StatementCounter(database.dataSource(), statement -> {});
        commits.runner()
                .withBean(DataSource.class, () -> counted)
                .run(application -> locks(application)
                        .execute(
                                ORDER,
                                outer -> locks(application).execute("order:2", inner -> {
                                    inTransaction(application, GuardedCommitTests::add);
                                    int before = counted.statements().size();

                                    inTransaction(application, GuardedCommitTests::add);
                                    TransactionTemplate reading = new TransactionTemplate(
                                            application.getBean(PlatformTransactionManager.class));
                                    reading.setReadOnly(true);
                                    reading.execute(status -> application
                                            .getBean(JdbcTemplate.class)
                                            .queryForList("SELECT amount FROM stock", Integer.class));

                                    assertThat(counted.statements()
                                                    .subList(
                                                            before,
                                                            counted.statements().size()))
                                            .as("after the database was recognised")
                                            .satisfiesExactly(
                                                    change -> {},
                                                    pin -> assertThat(pin).contains("FOR KEY SHARE"),
                                                    look -> {},
                                                    question -> {});
                                    return inner;
                                })));
    }

    @Test
    void a_second_transaction_after_the_loss_is_refused_without_a_statement() {
        StatementCounter counted = new StatementCounter(database.dataSource(), statement -> {});
        commits.runner().withBean(DataSource.class, () -> counted).run(application -> {
            for (boolean readOnly : new boolean[] {false, true}) {
                TransactionTemplate transaction =
                        new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
                transaction.setReadOnly(readOnly);
                isRefused(() -> locks(application).execute(ORDER.noHeartbeat(), lock -> {
                    commits.lose(lock);
                    int before = counted.statements().size();
                    transaction.executeWithoutResult(status -> {});
                    throw new AssertionError(
                            "it was committed, after " + (counted.statements().size() - before) + " statements");
                }));
            }
            assertThat(counted.statements()).noneMatch(statement -> statement.contains("FOR KEY SHARE"));
        });
    }

    /** Nothing of it is committed. */
    private void isRefused(ThrowingCallable work) {
        assertThatThrownBy(work).isInstanceOf(LockLostException.class).hasMessageContaining("'");
        assertThat(database.amount()).as("committed").isZero();
        commits.releaseTaken();
    }

    private int pears() {
        return database.jdbc().queryForObject("SELECT amount FROM stock WHERE item = 'pear'", Integer.class);
    }

    private static LockTemplate locks(ApplicationContext application) {
        return new LockTemplate(application.getBean(LockManager.class));
    }

    private static void add(JdbcTemplate jdbc) {
        jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }

    static class Stock {

        private final JdbcTemplate jdbc;

        Stock(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @DistributedLock(name = "order", key = "#id")
        public void add(String id, Runnable meanwhile) {
            GuardedCommitTests.add(jdbc);
            meanwhile.run();
        }

        @Transactional
        @DistributedLock(name = "order", key = "#id", mode = io.syncguard.LockMode.SHARED)
        public void read(String id, Runnable meanwhile) {
            GuardedCommitTests.add(jdbc);
            meanwhile.run();
        }

        @Transactional
        @DistributedLock(name = "order", key = "#id", commitGuard = CommitGuard.OFF)
        public void addUnguarded(String id, Runnable meanwhile) {
            GuardedCommitTests.add(jdbc);
            meanwhile.run();
        }
    }
}
