package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PgBouncer;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** Applications whose database is behind a real PgBouncer. */
class PgBouncerTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ofSeconds(30));

    /** All settings that a session of ours could leave behind. */
    private static final String SETTINGS = """
            SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings
            WHERE name IN ('default_transaction_isolation', 'default_transaction_read_only', 'synchronous_commit',
                'statement_timeout', 'lock_timeout', 'idle_session_timeout', 'transaction_timeout',
                'enable_seqscan', 'jit', 'enable_bitmapscan', 'log_parameter_max_length_on_error')
            """;

    private final TestDatabase database = TestDatabase.withSchema();
    private String url;
    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeAll
    static void needsPgBouncer() {
        PgBouncer.assumeInstalled();
    }

    /** Logs in as a role with the worst defaults. */
    @BeforeEach
    void spoilTheDefaults() {
        String role = database.newRole();
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
        for (String setting : List.of(
                "default_transaction_isolation = 'serializable'",
                "default_transaction_read_only = on",
                "synchronous_commit = off")) {
            database.jdbc().execute("ALTER ROLE " + role + " SET " + setting);
        }
        url = database.url().replaceFirst("\\?.*", "?user=" + role + "&password=secret");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void locks_work_and_have_their_settings_where_sessions_are_lent_for_a_transaction() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url);
        opened.add(pooler);
        LockAudit audit = audit();

        on(pooler).run(application -> {
            assertThat(application).hasNotFailed();
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            assertThat(lock.extend(Duration.ofSeconds(20))).isTrue();
            assertThat(locks.tryAcquire(ORDER)).isNull();
            assertThat(locks.isLocked("order:1")).isTrue();
            assertThat(lock.release()).isTrue();
        });

        assertThat(audit.of("order:1"))
                .extracting(LockAudit.Entry::operation, LockAudit.Entry::synchronousCommit)
                .containsExactly(tuple("INSERT", "on"), tuple("UPDATE", "on"), tuple("DELETE", "off"));
        assertThat(audit.of("order:1")).allSatisfy(entry -> {
            assertThat(entry.isolation()).isEqualTo("read committed");
            assertThat(entry.readOnly()).isEqualTo("off");
            assertThat(entry.statementTimeout()).isEqualTo("2250ms");
            assertThat(entry.lockTimeout()).isEqualTo("2s");
        });
    }

    /** PgBouncer before 1.21 does not pass the prepared statements of the driver. */
    @Test
    void a_transaction_through_the_pooler_commits_only_under_its_lock() {
        PgBouncer pooler = PgBouncer.poolingTransactions(database.url());
        opened.add(pooler);
        database.jdbc().execute("CREATE TABLE stock (amount INTEGER NOT NULL)");
        Applications.on(pooler.url(database.url()) + "&prepareThreshold=0").run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            locks.executeWithoutResult(
                    ORDER,
                    lock -> StockDatabase.inTransaction(
                            application, jdbc -> jdbc.update("INSERT INTO stock VALUES (1)")));

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> locks.executeWithoutResult(
                            ORDER,
                            lock -> StockDatabase.inTransaction(application, jdbc -> {
                                jdbc.update("INSERT INTO stock VALUES (2)");
                                database.jdbc().update("DELETE FROM syncguard_locks");
                                assertThat(lock.isHeld())
                                        .as("the holder does not know it")
                                        .isTrue();
                            })));
            assertThat(database.jdbc().queryForList("SELECT amount FROM stock", Integer.class))
                    .containsExactly(1);
        });
    }

    @Test
    void another_client_of_the_same_pooler_meets_no_setting_of_ours() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url, "default_pool_size = 1");
        opened.add(pooler);
        JdbcTemplate otherClient = new JdbcTemplate(PostgresServer.dataSource(pooler.url(url)));
        String before = otherClient.queryForObject(SETTINGS, String.class);

        on(pooler).run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            FutureTask<LockHandle> waiter = start(() -> locks.acquire(ORDER));
            eventually().until(() -> waiters() == 1);
            lock.release();
            eventually().until(waiter::isDone);
            waiter.get().release();

            assertThat(otherClient.queryForObject(SETTINGS, String.class)).isEqualTo(before);
            eventually()
                    .untilAsserted(() -> assertThat(otherClient.queryForList("SELECT pg_listening_channels()"))
                            .isEmpty());
            assertThat(otherClient.queryForList("SELECT name FROM pg_prepared_statements"))
                    .isEmpty();
        });
    }

    @Test
    void whoever_waits_is_served_although_no_wake_up_passes_and_the_log_says_so_once() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url);
        opened.add(pooler);
        try (CapturedLog log = new CapturedLog()) {
            on(pooler)
                    .run(application -> on(pooler).run(other -> {
                        LockManager locks = application.getBean(LockManager.class);
                        for (int i = 0; i < 3; i++) {
                            LockHandle lock = locks.acquire(ORDER);
                            FutureTask<LockHandle> waiter =
                                    start(() -> other.getBean(LockManager.class).acquire(ORDER));
                            eventually().until(() -> waiters() == 1);
                            eventually().until(() -> !log.messages().isEmpty());
                            lock.release();
                            eventually().until(waiter::isDone);
                            assertThat(waiter.get().fence()).isGreaterThan(lock.fence());
                            waiter.get().release();
                        }
                        assertThat(Applications.wakeUpsArrive(other)).isFalse();
                    }));
            assertThat(log.messages()).singleElement().asString().contains("do not pass the pooler");
        }
    }

    @Tag("verification")
    @Test
    void contenders_exclude_each_other_and_a_heartbeat_keeps_the_lock() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url);
        opened.add(pooler);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        on(pooler, "syncguard.ttl=2s").run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            List<FutureTask<Integer>> workers = new ArrayList<>();
            for (int worker = 0; worker < 8; worker++) {
                workers.add(start(() -> {
                    for (int i = 0; i < 5; i++) {
                        try (LockHandle lock = locks.acquire(ORDER)) {
                            assertThat(lock.isHeld()).isTrue();
                            assertThat(inside.incrementAndGet()).isOne();
                            inside.decrementAndGet();
                            done.incrementAndGet();
                        }
                    }
                    return done.get();
                }));
            }
            for (FutureTask<Integer> worker : workers) {
                eventually().until(worker::isDone);
                worker.get();
            }
            LockHandle held = locks.acquire(LockRequest.of("held"));
            Instant first = held.expiresAt();
            eventually().until(() -> held.expiresAt().isAfter(first.plusSeconds(3)));
            assertThat(held.release()).isTrue();
        });
        assertThat(done).hasValue(40);
    }

    @Test
    void leadership_goes_on_to_the_next() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url);
        opened.add(pooler);
        on(pooler).run(first -> {
            LeaderMember leader = first.getBean(LeaderElection.class).join("scheduler");
            eventually().until(leader::isLeader);
            on(pooler).run(second -> {
                LeaderMember next = second.getBean(LeaderElection.class).join("scheduler");
                leader.pause();
                eventually().until(next::isLeader);
            });
        });
    }

    @Test
    void the_schema_is_made_through_the_pooler() {
        TestDatabase empty = TestDatabase.empty();
        PgBouncer pooler = PgBouncer.poolingTransactions(empty.url());
        opened.add(pooler);
        Applications.on(pooler.url(empty.url())).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(application.getBean(LockManager.class).acquire(ORDER).release())
                    .isTrue();
        });
    }

    @Test
    void wake_ups_arrive_where_sessions_are_lent_until_the_client_has_gone() {
        PgBouncer pooler = PgBouncer.poolingSessions(url);
        opened.add(pooler);
        on(pooler, "spring.datasource.hikari.maximum-pool-size=1").run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            FutureTask<LockHandle> waiter = start(() -> locks.acquire(ORDER));
            eventually().until(() -> Applications.wakeUpsArrive(application));
            lock.release();
            eventually().until(waiter::isDone);
            waiter.get().release();
        });
    }

    @Test
    void a_pooler_that_lends_sessions_for_a_statement_is_refused_at_the_start() {
        PgBouncer pooler = PgBouncer.poolingStatements(url);
        opened.add(pooler);
        on(pooler)
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasStackTraceContaining("The pooler lends sessions for single statements")
                        .hasStackTraceContaining("pool_mode = transaction"));
    }

    @Test
    void a_pooler_that_refuses_a_parameter_of_the_url_is_named_at_the_start() {
        PgBouncer pooler = PgBouncer.poolingTransactions(url);
        opened.add(pooler);
        Applications.on(pooler.url(url) + "&options=-c%20geqo=off")
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasStackTraceContaining("The pooler refuses a start-up parameter")
                        .hasStackTraceContaining("ignore_startup_parameters"));
    }

    private LockAudit audit() {
        LockAudit audit = new LockAudit(database);
        database.jdbc().execute("TRUNCATE lock_audit");
        return audit;
    }

    private ApplicationContextRunner on(PgBouncer pooler, String... properties) {
        return Applications.on(pooler.url(url)).withPropertyValues(properties);
    }

    private int waiters() {
        return database.jdbc().queryForObject("SELECT count(*) FROM syncguard_locks_waiters", Integer.class);
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "worker");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(10));
    }
}
