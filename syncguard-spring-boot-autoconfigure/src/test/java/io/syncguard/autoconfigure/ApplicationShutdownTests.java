package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StoppingApplications.assertAborted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The end of an application: running bodies may end, waiting callers are aborted, and locks that are still held are
 * released.
 */
class ApplicationShutdownTests {

    /** The common pool may have a single thread, which a body would occupy. */
    private static final Executor IN_A_THREAD = task -> new Thread(task, "closing").start();

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StoppingApplications applications = new StoppingApplications();

    private static final TestDatabase database = applications.database;

    @Test
    void a_running_body_ends_with_its_lock_held_by_heartbeats_and_no_other_lock_is_granted() {
        applications.run(
                application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    CountDownLatch running = new CountDownLatch(1);
                    CountDownLatch mayEnd = new CountDownLatch(1);
                    CompletableFuture<Boolean> body = CompletableFuture.supplyAsync(() -> {
                        try {
                            return application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                                running.countDown();
                                return mayEnd.await(20, TimeUnit.SECONDS) && lock.isHeld();
                            });
                        } catch (InterruptedException ex) {
                            throw new CompletionException(ex);
                        }
                    });
                    await().atMost(Duration.ofSeconds(5)).until(() -> running.getCount() == 0);

                    CompletableFuture<Void> close = CompletableFuture.runAsync(application::close, IN_A_THREAD);
                    await().atMost(Duration.ofSeconds(5))
                            .untilAsserted(() -> assertAborted(() -> locks.acquire(LockRequest.of("order:2"))));
                    int extended = applications.extensions("order:1");
                    await().atMost(Duration.ofSeconds(10))
                            .until(() -> applications.extensions("order:1") > extended + 4);
                    assertThat(close).isNotDone();
                    mayEnd.countDown();

                    assertThat(body).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(true);
                    assertThat(close).succeedsWithin(Duration.ofSeconds(5));
                    assertThat(database.lockedKeys()).isEmpty();
                },
                "syncguard.ttl=600ms",
                "syncguard.shutdown-timeout=20s");
    }

    @Test
    void a_lock_that_is_still_held_when_the_time_is_over_is_released_and_its_holder_notified() {
        applications.run(
                application -> {
                    LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
                    CountDownLatch lost = new CountDownLatch(1);
                    lock.onLost(lost::countDown);

                    long began = System.nanoTime();
                    application.close();

                    assertThat(Duration.ofNanos(System.nanoTime() - began))
                            .isBetween(Duration.ofMillis(300), Duration.ofSeconds(3));
                    assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
                    assertThat(database.lockedKeys()).isEmpty();
                    await().atMost(Duration.ofSeconds(5)).until(() -> lost.getCount() == 0);
                },
                "syncguard.shutdown-timeout=300ms");
    }

    @Test
    void a_shutdown_timeout_of_zero_releases_at_once() {
        applications.run(
                application -> {
                    for (int i = 0; i < 20; i++) {
                        application.getBean(LockManager.class).acquire(LockRequest.of("order:" + i));
                    }
                    application.close();
                    assertThat(database.lockedKeys()).isEmpty();
                },
                "syncguard.shutdown-timeout=0s");
    }

    @Test
    void a_grant_that_arrives_after_the_stop_does_not_outlive_the_application() throws Exception {
        try (Connection blocker = database.jdbc().getDataSource().getConnection();
                Statement statement = blocker.createStatement()) {
            blocker.setAutoCommit(false);
            applications.run(application -> {
                LockManager locks = application.getBean(LockManager.class);
                locks.acquire(ORDER).release();
                execute(statement, "SELECT FROM syncguard_fence_counters WHERE key_debug = 'order:1' FOR UPDATE");
                CompletableFuture<LockHandle> underWay = CompletableFuture.supplyAsync(() -> locks.acquire(ORDER));
                await().atMost(Duration.ofSeconds(5)).until(() -> sessionsThatWaitForARow() == 1);
                application.stop();
                execute(statement, "ROLLBACK");
                await().atMost(Duration.ofSeconds(5)).until(underWay::isDone);

                application.close();
                assertThat(database.lockedKeys()).isEmpty();
            });
        }
    }

    @Test
    void a_caller_who_waits_is_aborted() {
        applications.run(other -> {
            LockHandle inTheWay = other.getBean(LockManager.class).acquire(ORDER);
            applications.run(application -> {
                CompletableFuture<LockHandle> waiting = CompletableFuture.supplyAsync(
                        () -> application.getBean(LockManager.class).acquire(ORDER.waitTime(Duration.ofMinutes(1))));
                await().atMost(Duration.ofSeconds(5)).until(() -> database.sessions() >= 3);
                application.close();
                assertThat(waiting)
                        .failsWithin(Duration.ofSeconds(2))
                        .withThrowableOfType(Exception.class)
                        .havingCause()
                        .isInstanceOfSatisfying(
                                LockException.class,
                                aborted -> assertThat(aborted.code()).isEqualTo(LockErrorCode.ABORTED));
            });
            inTheWay.release();
        });
    }

    @Test
    void an_application_that_holds_nothing_stops_at_once() {
        applications.run(
                application -> {
                    application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
                    long began = System.nanoTime();
                    application.close();
                    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(2));
                },
                "syncguard.shutdown-timeout=20s");
    }

    @Test
    void a_data_source_of_the_application_that_is_closed_first_does_not_matter() {
        applications.run(application -> {
            LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
            application.getBean(HikariDataSource.class).close();
            assertThat(lock.extend(Duration.ofSeconds(20))).isTrue();
            application.getBean(LockManager.class).acquire(LockRequest.of("order:2"));
            assertThat(database.lockedKeys()).hasSize(2);

            application.close();
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_future_that_is_under_way_keeps_its_lock_until_it_is_done() {
        applications
                .runner("syncguard.shutdown-timeout=20s")
                .withUserConfiguration(Reports.class)
                .run(application -> {
                    CompletableFuture<String> work = new CompletableFuture<>();
                    CompletableFuture<String> report =
                            application.getBean(Report.class).write(work);
                    CompletableFuture<Void> close = CompletableFuture.runAsync(application::close, IN_A_THREAD);
                    await().atMost(Duration.ofSeconds(5))
                            .untilAsserted(() -> assertAborted(
                                    () -> application.getBean(LockManager.class).acquire(ORDER)));
                    assertThat(database.lockedKeys()).containsExactly("report");
                    work.complete("written");

                    assertThat(report).succeedsWithin(Duration.ofSeconds(5)).isEqualTo("written");
                    assertThat(close).succeedsWithin(Duration.ofSeconds(5));
                    assertThat(database.lockedKeys()).isEmpty();
                });
    }

    @Test
    void many_held_locks_on_a_database_that_does_not_answer_do_not_hold_up_the_end() throws Exception {
        try (Connection blocker = database.jdbc().getDataSource().getConnection();
                Statement statement = blocker.createStatement()) {
            blocker.setAutoCommit(false);
            applications.run(
                    application -> {
                        for (int i = 0; i < 20; i++) {
                            application.getBean(LockManager.class).acquire(LockRequest.of("order:" + i));
                        }
                        execute(statement, "LOCK TABLE syncguard_locks IN ACCESS EXCLUSIVE MODE");
                        long began = System.nanoTime();
                        application.close();
                        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(4));
                        execute(statement, "ROLLBACK");
                    },
                    "syncguard.shutdown-timeout=1s",
                    "syncguard.postgres.network-timeout=1s");
            blocker.rollback();
        }
    }

    private static void execute(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException ex) {
            throw new AssertionError(ex);
        }
    }

    private static int sessionsThatWaitForARow() {
        return database.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
                                + " wait_event_type = 'Lock'",
                        Integer.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Reports {

        @Bean
        Report report() {
            return new Report();
        }
    }

    static class Report {

        @DistributedLock(name = "report")
        public CompletableFuture<String> write(CompletableFuture<String> work) {
            return work;
        }
    }
}
