package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class CallerTransactionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private static TestDatabase database;
    private static LockAudit audit;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
        audit = new LockAudit(database);
        database.jdbc().execute("CREATE TABLE stock (item TEXT PRIMARY KEY, amount INTEGER NOT NULL)");
    }

    @BeforeEach
    void emptyTables() {
        database.jdbc().execute("TRUNCATE lock_audit, stock, syncguard_locks, syncguard_fence_counters");
        database.jdbc().execute("INSERT INTO stock VALUES ('apple', 0)");
    }

    @Test
    void lock_operations_use_connections_and_transactions_of_their_own() {
        run(application -> {
            int[] caller = new int[1];
            String[] transaction = new String[1];
            inTransaction(application, jdbc -> {
                caller[0] = jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
                transaction[0] = jdbc.queryForObject("SELECT pg_current_xact_id()::text", String.class);
                LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
                lock.extend(Duration.ofSeconds(20));
                assertThat(application.getBean(LockManager.class).release(lock.lockId()))
                        .isTrue();
            });

            List<LockAudit.Entry> entries = audit.of("order:1");
            assertThat(entries).extracting(LockAudit.Entry::operation).containsExactly("INSERT", "UPDATE", "DELETE");
            assertThat(entries).extracting(LockAudit.Entry::pid).doesNotContain(caller[0]);
            assertThat(entries)
                    .extracting(LockAudit.Entry::transaction)
                    .doesNotContain(transaction[0])
                    .doesNotHaveDuplicates();
        });
    }

    @Test
    void the_grant_is_visible_to_everybody_while_the_callers_transaction_is_open() {
        run(application -> inTransaction(application, jdbc -> {
            application.getBean(LockManager.class).acquire(ORDER);
            assertThat(database.lockedKeys()).containsExactly("order:1");
            assertThat(database.jdbc()
                            .queryForList(
                                    "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
                                            + " AND state LIKE 'idle in transaction%' AND query LIKE '%syncguard%'",
                                    String.class))
                    .isEmpty();
        }));
    }

    @Test
    void a_rollback_of_the_caller_does_not_undo_the_grant() {
        run(application -> {
            List<LockHandle> locks = new ArrayList<>();
            application.getBean(TransactionTemplate.class).executeWithoutResult(transaction -> {
                locks.add(application.getBean(LockManager.class).acquire(ORDER));
                transaction.setRollbackOnly();
            });

            assertThat(locks.get(0).isHeld()).isTrue();
            assertThat(database.lockedKeys()).containsExactly("order:1");
            assertThat(locks.get(0).release()).isTrue();
            long next = application
                    .getBean(LockTemplate.class)
                    .execute(ORDER, lock -> lock.fence().value());
            assertThat(next).isEqualTo(2);
        });
    }

    @Test
    void the_callers_transaction_stays_as_it_is() {
        run(application -> {
            TransactionTemplate transactions =
                    new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            transactions.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
            transactions.setReadOnly(true);
            transactions.executeWithoutResult(transaction -> {
                JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
                String before = stateOf(jdbc);
                application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
                assertThat(stateOf(jdbc)).isEqualTo(before).startsWith("repeatable read, on");
                assertThat(transaction.isRollbackOnly()).isFalse();
                assertThat(jdbc.queryForObject("SELECT pg_current_xact_id_if_assigned() IS NULL", Boolean.class))
                        .isTrue();
            });
        });
    }

    @Test
    void a_caller_who_has_the_only_connection_of_its_pool_can_lock() {
        runner("spring.datasource.hikari.maximum-pool-size=1").run(application -> {
            inTransaction(application, jdbc -> {
                jdbc.update("UPDATE stock SET amount = 1");
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 2"));
            });
            assertThat(amount()).isEqualTo(2);
        });
    }

    @Test
    void heartbeats_go_on_while_all_connections_of_the_application_are_taken() {
        runner("syncguard.ttl=600ms", "syncguard.postgres.pool-size=1", "spring.datasource.hikari.maximum-pool-size=1")
                .run(application -> inTransaction(application, jdbc -> {
                    LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
                    jdbc.queryForList("SELECT pg_sleep(1.4)");
                    assertThat(lock.isHeld()).isTrue();
                    assertThat(lock.extend(Duration.ofSeconds(1))).isTrue();
                }));
    }

    @Test
    void more_transactions_than_lock_connections_do_not_starve() throws Exception {
        int callers = 12;
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            runner("syncguard.postgres.pool-size=2", "spring.datasource.hikari.maximum-pool-size=" + callers)
                    .run(application -> {
                        CountDownLatch allHold = new CountDownLatch(callers);
                        List<Future<?>> ends = new ArrayList<>();
                        for (int i = 0; i < callers; i++) {
                            LockRequest own = LockRequest.of("order:" + i);
                            ends.add(threads.submit(() -> inTransaction(application, jdbc -> {
                                jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
                                application.getBean(LockTemplate.class).execute(own, lock -> {
                                    allHold.countDown();
                                    assertThat(allHold.await(10, TimeUnit.SECONDS))
                                            .isTrue();
                                    return lock;
                                });
                            })));
                        }
                        for (Future<?> end : ends) {
                            end.get(20, TimeUnit.SECONDS);
                        }
                        assertThat(database.lockedKeys()).isEmpty();
                    });
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_lock_that_ends_inside_a_transaction_is_released_after_it() {
        run(application -> {
            inTransaction(application, jdbc -> {
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(database.lockedKeys())
                        .as("the body has ended, the transaction has not")
                        .containsExactly("order:1");
                assertThat(amount()).isZero();
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void it_is_released_after_a_rollback_as_well() {
        run(application -> {
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        application
                                .getBean(LockTemplate.class)
                                .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                        throw new IllegalStateException("rolled back");
                    }))
                    .hasMessage("rolled back");
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(amount()).isZero();
        });
    }

    @Test
    void it_is_released_after_a_commit_that_failed() {
        run(application -> {
            database.jdbc()
                    .execute(
                            "DROP TABLE IF EXISTS strict; CREATE TABLE strict (id INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)");
            assertThatThrownBy(() -> inTransaction(
                            application,
                            jdbc -> application
                                    .getBean(LockTemplate.class)
                                    .execute(ORDER, lock -> jdbc.update("INSERT INTO strict VALUES (1), (1)"))))
                    .hasMessageContaining("duplicate key");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void the_next_holder_is_refused_until_then_and_sees_what_was_committed() {
        run(application -> run(other -> {
            LockTemplate others = other.getBean(LockTemplate.class);
            inTransaction(application, jdbc -> {
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(others.tryExecute(ORDER, lock -> "granted")).isEmpty();
            });
            int seen = others.execute(ORDER, lock -> amount());
            assertThat(seen).isEqualTo(1);
        }));
    }

    @Test
    void a_second_call_for_the_same_key_in_the_transaction_joins_the_first() {
        run(application -> inTransaction(application, jdbc -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            long first = locks.execute(ORDER, lock -> lock.fence().value());
            long second = locks.execute(
                    ORDER.waitTime(Duration.ZERO), lock -> lock.fence().value());
            assertThat(second).isEqualTo(first);
            assertThat(locks.tryExecute(ORDER, lock -> lock.isHeld())).contains(true);
        }));
        assertThat(database.lockedKeys()).isEmpty();
    }

    @Test
    void a_second_transaction_inside_the_first_joins_as_well() {
        run(application -> {
            TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            inTransaction(application, jdbc -> {
                LockTemplate locks = application.getBean(LockTemplate.class);
                locks.execute(ORDER, lock -> lock);
                inner.executeWithoutResult(transaction -> locks.execute(ORDER.waitTime(Duration.ZERO), lock -> lock));
                assertThat(database.lockedKeys())
                        .as("the outer transaction is still open")
                        .containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_of_an_inner_transaction_is_released_with_that_one() {
        run(application -> {
            TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            inTransaction(application, jdbc -> {
                inner.executeWithoutResult(
                        transaction -> application.getBean(LockTemplate.class).execute(ORDER, lock -> lock));
                assertThat(database.lockedKeys()).isEmpty();
            });
        });
    }

    @Test
    void a_transaction_inside_the_body_ends_before_the_lock() {
        run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                inTransaction(application, jdbc -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(database.lockedKeys()).containsExactly("order:1");
                return lock;
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_that_is_taken_after_the_commit_is_released_at_once() {
        run(application -> {
            List<String> afterCommit = new ArrayList<>(List.of("not run"));
            List<String> afterCompletion = new ArrayList<>(List.of("not run"));
            LockTemplate locks = application.getBean(LockTemplate.class);
            inTransaction(
                    application,
                    jdbc -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            locks.execute(ORDER, lock -> lock);
                            afterCommit.clear();
                        }

                        @Override
                        public void afterCompletion(int status) {
                            locks.execute(LockRequest.of("order:2"), lock -> lock);
                            afterCompletion.clear();
                            afterCompletion.addAll(database.lockedKeys());
                        }
                    }));
            assertThat(afterCommit).isEmpty();
            assertThat(afterCompletion).doesNotContain("order:2");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void without_a_transaction_a_lock_is_released_when_its_body_ends() {
        run(application -> {
            TransactionTemplate none = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            none.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
            none.executeWithoutResult(transaction -> {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
                assertThat(database.lockedKeys()).isEmpty();
            });
        });
    }

    @Test
    void heartbeats_go_on_until_the_transaction_has_ended() {
        runner("syncguard.ttl=300ms").run(application -> {
            inTransaction(application, jdbc -> {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
                jdbc.queryForList("SELECT pg_sleep(1.4)");
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(audit.of("order:1"))
                    .filteredOn(entry -> entry.operation().equals("UPDATE"))
                    .hasSizeGreaterThan(3);
        });
    }

    @Test
    void a_lock_that_is_lost_before_the_transaction_ends_is_not_joined_and_nothing_is_committed() {
        run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        LockHandle ended =
                                locks.execute(ORDER.ttl(Duration.ofMillis(400)).noHeartbeat(), lock -> {
                                    jdbc.update("UPDATE stock SET amount = 1");
                                    return lock;
                                });
                        await().atMost(Duration.ofSeconds(5)).until(() -> !ended.isHeld());
                        assertThatThrownBy(() -> locks.execute(ORDER, lock -> lock))
                                .isInstanceOf(LockLostException.class);
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(amount()).isZero();
        });
    }

    @Test
    void contention_inside_a_transaction_does_not_spoil_it() {
        run(application -> run(other -> {
            other.getBean(LockManager.class).acquire(ORDER);
            inTransaction(application, jdbc -> {
                jdbc.update("UPDATE stock SET amount = 1");
                assertThatThrownBy(() -> application
                                .getBean(LockTemplate.class)
                                .execute(ORDER.waitTime(Duration.ZERO), lock -> lock))
                        .isInstanceOfSatisfying(
                                LockNotAcquiredException.class,
                                refused -> assertThat(refused.code()).isEqualTo(LockErrorCode.ACQUISITION_TIMEOUT));
            });
            assertThat(amount()).isEqualTo(1);
            other.getBean(LockManager.class)
                    .lookup("order:1")
                    .ifPresent(info -> database.jdbc().execute("TRUNCATE syncguard_locks"));
        }));
    }

    private static String stateOf(JdbcTemplate jdbc) {
        return jdbc.queryForObject(
                "SELECT current_setting('transaction_isolation') || ', ' || current_setting('transaction_read_only')"
                        + " || ', ' || pg_backend_pid() || ', ' || pg_current_snapshot()",
                String.class);
    }

    private static int amount() {
        return database.jdbc().queryForObject("SELECT amount FROM stock", Integer.class);
    }

    private static void inTransaction(ApplicationContext application, Consumer<JdbcTemplate> work) {
        application
                .getBean(TransactionTemplate.class)
                .executeWithoutResult(transaction -> work.accept(application.getBean(JdbcTemplate.class)));
    }

    private static void run(Consumer<ApplicationContext> test) {
        runner().run(test::accept);
    }

    private static ApplicationContextRunner runner(String... properties) {
        return Applications.on(database.url())
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .withPropertyValues(properties);
    }
}
