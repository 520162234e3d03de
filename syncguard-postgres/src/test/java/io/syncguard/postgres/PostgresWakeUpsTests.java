package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A process receives the wake-ups of releases. Here the safety poll comes after more than an hour, and so does the next
 * attempt while wake-ups do not arrive: a granted waiter was woken.
 */
class PostgresWakeUpsTests {

    private static final Duration HOURS = Duration.ofHours(3);

    private static final LockRequest REQUEST =
            LockRequest.of("k").ttl(Duration.ofDays(1)).waitTime(HOURS);

    private static String url;

    /** The threads that other tests in this JVM left running. */
    private final Set<Thread> threadsBefore = listenerThreads();

    private final HikariDataSource pool = new HikariDataSource();
    private final Gate wakeUps = new Gate(PostgresServer.dataSource(url));
    private final JdbcTemplate jdbc = new JdbcTemplate(pool);
    private StoreCalls backend;
    private LockEngine holder;
    private LockEngine waiter;

    @BeforeAll
    static void makeDatabase() {
        url = PostgresServer.newDatabaseUrl();
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
    }

    @BeforeEach
    void open() {
        pool.setJdbcUrl(url);
        jdbc.execute("TRUNCATE syncguard_locks, syncguard_locks_waiters");
        holder = engine(newBackend(null));
        backend = newBackend(wakeUps);
        waiter = engine(backend);
    }

    @AfterEach
    void close() {
        wakeUps.open.countDown();
        waiter.close();
        holder.close();
        pool.close();
    }

    @Test
    void a_release_in_another_process_wakes_the_waiter() throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitConnected();

        lock.release();

        assertThat(granted(waiting).fence()).isGreaterThan(lock.fence());
    }

    @Test
    void a_release_in_the_same_process_wakes_the_waiter() throws Exception {
        LockHandle lock = waiter.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitConnected();

        lock.release();

        assertThat(granted(waiting).fence()).isGreaterThan(lock.fence());
    }

    @Test
    void a_process_connects_when_somebody_waits_and_not_before() {
        LockHandle lock = waiter.acquire(REQUEST);
        assertThat(waiter.tryAcquire(REQUEST)).isNull();
        assertThat(wakeUps.connections).hasValue(0);

        waiting();

        awaitConnected();
        assertThat(wakeUps.connections).hasValue(1);
        lock.release();
    }

    @Test
    void a_release_before_the_process_listens_is_found_when_it_does() throws Exception {
        wakeUps.open = new CountDownLatch(1);
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitQueueEntry();
        lock.release();
        assertThat(waiting).isNotDone();

        wakeUps.open.countDown();

        granted(waiting);
    }

    @Test
    void a_release_while_the_connection_is_lost_is_found_when_it_is_back_and_the_loss_is_logged_once()
            throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitConnected();
        try (CapturedLog log = new CapturedLog()) {
            wakeUps.open = new CountDownLatch(1);
            endListeners();
            eventually().until(() -> !backend.isConnected());
            lock.release();

            wakeUps.open.countDown();

            granted(waiting);
            assertThat(log.messages())
                    .containsExactly("Wake-ups from PostgreSQL do not arrive; waiting callers poll until they do");
        }
    }

    @Test
    void wake_ups_arrive_again_after_the_connection_was_lost() throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitConnected();
        endListeners();
        eventually().until(() -> wakeUps.connections.get() == 2 && backend.isConnected());

        lock.release();

        granted(waiting);
    }

    @Test
    void a_wake_up_for_somebody_who_waits_no_more_does_no_harm() throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waiting();
        awaitConnected();
        String channel = jdbc.queryForObject("SELECT channel FROM syncguard_locks_waiters", String.class);
        jdbc.queryForList("SELECT pg_notify(?, '9223372036854775807')", channel);

        lock.release();

        granted(waiting);
    }

    @Test
    void a_closed_process_leaves_neither_connection_nor_thread() {
        LockHandle lock = waiter.acquire(REQUEST);
        waiting();
        awaitConnected();
        assertThat(listeners()).hasSize(1);

        lock.release();
        waiter.close();

        eventually().until(() -> listeners().isEmpty());
        eventually().until(() -> threadsBefore.containsAll(listenerThreads()));
    }

    /**
     * A pooler lends the listening session to another client. The test plays this with a session that listens in
     * another database, where no notification is sent.
     */
    @Test
    void where_no_notification_arrives_it_logs_so_once_and_waiters_poll() throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        String elsewhere = PostgresServer.newDatabaseUrl();
        try (CapturedLog log = new CapturedLog();
                StoreCalls disconnected = newBackend(PostgresServer.dataSource(elsewhere));
                LockEngine asking = asking(disconnected)) {
            FutureTask<LockHandle> waiting = waitingFor(asking);
            eventually().until(() -> !log.messages().isEmpty());
            assertThat(disconnected.isConnected()).isFalse();

            lock.release();

            granted(waiting);
            assertThat(log.messages())
                    .containsExactly(
                            "Wake-ups from PostgreSQL do not pass the pooler or proxy in front of it; waiting callers"
                                    + " poll");
            assertNotHandedTheKey(asking);
        }
    }

    /** No release hands the key over to a waiter that receives no wake-ups. */
    private void assertNotHandedTheKey(LockEngine asking) throws Exception {
        LockHandle lock = holder.acquire(REQUEST);
        FutureTask<LockHandle> waiting = waitingFor(asking);
        awaitQueueEntry();
        assertThat(jdbc.queryForList("SELECT channel FROM syncguard_locks_waiters", String.class))
                .containsOnlyNulls();
        lock.release();
        granted(waiting);
    }

    /** An engine that polls at once while wake-ups do not arrive. */
    private static LockEngine asking(StoreCalls backend) {
        EngineSettings settings = new EngineSettings(
                "test",
                Duration.ofSeconds(30),
                HOURS,
                Duration.ofMillis(5),
                Duration.ofMillis(5),
                Duration.ZERO,
                Duration.ZERO,
                Map.of());
        return new LockEngine(backend, settings, TransactionBoundary.NONE, List.of());
    }

    private static Set<Thread> listenerThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("syncguard-listener"))
                .collect(Collectors.toSet());
    }

    private StoreCalls newBackend(@Nullable DataSource listener) {
        return new StoreCalls(new PostgresLockBackend(
                pool,
                pool,
                listener,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        HOURS,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
    }

    /** An engine that polls every two hours while wake-ups do not arrive. */
    private static LockEngine engine(StoreCalls backend) {
        EngineSettings settings = new EngineSettings(
                "test",
                Duration.ofSeconds(30),
                HOURS,
                Duration.ofHours(2),
                Duration.ofHours(2),
                Duration.ZERO,
                Duration.ZERO,
                Map.of());
        return new LockEngine(backend, settings, TransactionBoundary.NONE, List.of());
    }

    private FutureTask<LockHandle> waiting() {
        return waitingFor(waiter);
    }

    private static FutureTask<LockHandle> waitingFor(LockEngine engine) {
        FutureTask<LockHandle> task = new FutureTask<>(() -> engine.acquire(REQUEST));
        Thread thread = new Thread(task, "waiting");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private void awaitQueueEntry() {
        eventually()
                .until(() -> !jdbc.queryForList("SELECT FROM syncguard_locks_waiters")
                        .isEmpty());
    }

    private void awaitConnected() {
        awaitQueueEntry();
        eventually().until(backend::isConnected);
    }

    private static LockHandle granted(FutureTask<LockHandle> waiting) throws Exception {
        eventually().until(waiting::isDone);
        LockHandle lock = waiting.get();
        assertThat(lock.isHeld()).isTrue();
        lock.release();
        return lock;
    }

    private List<Integer> listeners() {
        return jdbc.queryForList("""
                SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
                """, Integer.class);
    }

    private void endListeners() {
        listeners().forEach(pid -> jdbc.queryForObject("SELECT pg_terminate_backend(?)", Boolean.class, pid));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }

    /** Gives out connections while it is open, and counts them. */
    private static final class Gate extends DelegatingDataSource {

        private final AtomicInteger connections = new AtomicInteger();
        private volatile CountDownLatch open = new CountDownLatch(0);

        Gate(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            try {
                open.await();
            } catch (InterruptedException ex) {
                throw new SQLException(ex);
            }
            connections.incrementAndGet();
            return super.getConnection();
        }
    }
}
