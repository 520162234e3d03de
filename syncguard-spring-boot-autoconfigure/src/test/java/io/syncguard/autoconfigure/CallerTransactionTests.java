package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Lock operations inside a transaction of the caller take no part in it, and neither delays the other. */
class CallerTransactionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    @Test
    void lock_operations_use_connections_and_transactions_of_their_own() {
        database.run(application -> {
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

            List<LockAudit.Entry> entries = database.audit.of("order:1");
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
        database.run(application -> inTransaction(application, jdbc -> {
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
        database.run(application -> {
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
        database.run(application -> {
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
        database.runner("spring.datasource.hikari.maximum-pool-size=1").run(application -> {
            inTransaction(application, jdbc -> {
                jdbc.update("UPDATE stock SET amount = 1");
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 2"));
            });
            assertThat(database.amount()).isEqualTo(2);
        });
    }

    @Test
    void heartbeats_go_on_while_all_connections_of_the_application_are_taken() {
        database.runner("syncguard.postgres.pool-size=1", "spring.datasource.hikari.maximum-pool-size=1")
                .run(application -> inTransaction(application, jdbc -> {
                    // The transaction has its connection.
                    jdbc.queryForList("SELECT 1");
                    LockHandle lock =
                            application.getBean(LockManager.class).acquire(ORDER.heartbeat(Duration.ofMillis(50)));
                    Instant granted = lock.expiresAt();
                    await().until(() -> lock.expiresAt().isAfter(granted));
                    assertThat(lock.extend(Duration.ofSeconds(40))).isTrue();
                }));
    }

    @Test
    void more_transactions_than_lock_connections_do_not_starve() throws Exception {
        int callers = 12;
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            database.runner("syncguard.postgres.pool-size=2", "spring.datasource.hikari.maximum-pool-size=" + callers)
                    .run(application -> {
                        CountDownLatch allHold = new CountDownLatch(callers);
                        List<Future<?>> ends = new ArrayList<>();
                        for (int i = 0; i < callers; i++) {
                            LockRequest own = LockRequest.of("order:" + i);
                            ends.add(threads.submit(() -> inTransaction(application, jdbc -> {
                                jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
                                application.getBean(LockTemplate.class).execute(own, lock -> {
                                    allHold.countDown();
                                    await().atMost(Duration.ofSeconds(10)).until(() -> allHold.getCount() == 0);
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
    void contention_inside_a_transaction_does_not_spoil_it() {
        database.run(application -> database.run(other -> {
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
            assertThat(database.amount()).isEqualTo(1);
            other.getBean(LockManager.class)
                    .admin()
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
}
