package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderElection;
import io.syncguard.postgres.PostgresBatching;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.LeasePins;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.ServerProxy;
import io.syncguard.testing.UsualBuild;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A server hangs, at each moment of a request. No operation lasts longer than its wait time and one network timeout,
 * and an interrupted caller is back within half a second from everything but a release.
 */
@Tag("verification")
class HungServerTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONG_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration WAIT_TIME = Duration.ofMillis(500);
    private static final Duration INTERRUPT_LIMIT = Duration.ofMillis(500);

    /** A busy machine is late. Without one limit for the whole request, it would be later by half a timeout. */
    private static final Duration LATENESS = Duration.ofMillis(450);

    /** HikariCP tests a connection before it lends it if the connection was idle for longer. */
    private static final String ALIVE_WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

    private static final Set<String> RELEASES = Set.of("release", "release by id");

    private static OwnRedis redis;

    private final TestDatabase database = TestDatabase.withSchema();
    private final Map<String, Call> calls = new LinkedHashMap<>();
    private ServerProxy proxy;
    private StoreCalls backend;
    private LockEngine engine;

    enum Store {
        POSTGRES(Moment.values()),
        POSTGRES_IN_BATCHES(Moment.SENT, Moment.POOL_OF_ONE),
        REDIS(Moment.SENT, Moment.UNCONNECTED, Moment.CUT, Moment.SLOW);

        private final List<Moment> moments;

        Store(Moment... moments) {
            this.moments = List.of(moments);
        }
    }

    enum Moment {
        /** The request is sent into the silence. */
        SENT,
        /** The pool tests an idle connection. */
        TESTED,
        /** There is no connection yet. */
        UNCONNECTED,
        /** All connections are lost, and the server does not greet new ones. */
        CUT,
        /** One connection for all callers. */
        POOL_OF_ONE,
        /** An open connection is not set up yet, and each answer takes nearly as long as one may. */
        SET_UP,
        /** Each answer takes less than its own limit. */
        SLOW;

        boolean isConnected() {
            return this != UNCONNECTED && this != SET_UP;
        }
    }

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @AfterEach
    void close() {
        System.clearProperty(ALIVE_WINDOW);
        proxy.speakAgain();
        proxy.delayAnswers(Duration.ZERO);
        proxy.close();
        engine.close();
        redis.commands().flushall();
    }

    /** The usual build has the moment at which most requests hang, with one request at a time. */
    static Stream<Arguments> hangs() {
        return stores().flatMap(store ->
                UsualBuild.first(1, store.moments.stream()).map(moment -> Arguments.of(store, moment)));
    }

    static Stream<Store> stores() {
        return UsualBuild.first(2, Stream.of(Store.POSTGRES, Store.REDIS, Store.POSTGRES_IN_BATCHES));
    }

    @ParameterizedTest
    @MethodSource("hangs")
    void no_operation_lasts_longer_than_its_wait_time_and_one_network_timeout(Store store, Moment moment)
            throws Exception {
        prepare(store, moment, TIMEOUT);

        hang(moment);
        calls.values().forEach(Call::start);

        for (Call call : calls.values()) {
            assertThat(call.awaitDuration())
                    .as(call.name + ", which ended with " + call.failure)
                    .isLessThan(call.waitTime.plus(TIMEOUT).plus(LATENESS));
        }
    }

    static Stream<Arguments> hangsForGood() {
        return hangs().filter(hang -> hang.get()[1] != Moment.SLOW && hang.get()[1] != Moment.SET_UP);
    }

    @ParameterizedTest
    @MethodSource("hangsForGood")
    void an_interrupted_caller_is_back_at_once(Store store, Moment moment) throws Exception {
        prepare(store, moment, LONG_TIMEOUT);
        calls.keySet().removeAll(RELEASES);

        hang(moment);
        calls.values().forEach(Call::start);
        // Each is where the server keeps it, except those that found a broken connection.
        eventually().until(() -> calls.values().stream().allMatch(call -> call.isBlocked() || !call.isAlive()));
        calls.values().removeIf(call -> !call.isAlive());

        assertBackWhenInterrupted();
    }

    @ParameterizedTest
    @MethodSource("stores")
    void an_interrupted_caller_whose_statement_waits_at_the_server_is_back_at_once_and_leaves_nothing(Store store)
            throws Exception {
        prepare(store, Moment.SENT, LONG_TIMEOUT);
        List<Call> releases = RELEASES.stream().map(calls::remove).toList();
        AutoCloseable blocked = block(store);
        try {
            releases.forEach(Call::start);
            calls.values().forEach(Call::start);
            eventually().until(() -> calls.values().stream().allMatch(Call::isBlocked));
            eventually().until(() -> releases.stream().allMatch(Call::isBlocked));

            releases.forEach(Call::interrupt);
            assertBackWhenInterrupted();
            assertThat(releases).as("releases").allMatch(Call::isAlive);
        } finally {
            blocked.close();
        }

        for (Call release : releases) {
            release.awaitDuration();
            assertThat(release.failure).isNull();
            assertThat(release.flag).isTrue();
        }
        engine.release(engine.admin().debugLookup("extended").get(0).lockId());
        eventually()
                .atMost(LONG_TIMEOUT.multipliedBy(6))
                .ignoreExceptions()
                .untilAsserted(() ->
                        assertThat(engine.admin().list(LockQuery.all()).locks()).isEmpty());
        assertThat(engine.acquire(LockRequest.of("afterwards")).release()).isTrue();
    }

    /** On a connection of the application, which has no limit of its own. The driver waits for its cancel request. */
    @Test
    void a_guarded_commit_does_not_wait_for_ever() throws Exception {
        prepare(Store.POSTGRES, Moment.SENT, TIMEOUT);
        LeasePins pins = Objects.requireNonNull(backend.pins());
        List<String> lockIds = List.of("A".repeat(22));
        try (Connection application = DriverManager.getConnection(proxy.url() + "&cancelSignalTimeout=1")) {
            application.setAutoCommit(false);
            assertThat(pins.whyNot(application)).isNull();
            assertThat(pins.pin(application, lockIds).lockIds()).isEmpty();
            assertThat(application.getNetworkTimeout()).isZero();

            proxy.fallSilent();
            Call pin = new Call("pin", Duration.ZERO, () -> {
                try {
                    pins.pin(application, lockIds);
                } catch (SQLException ex) {
                    throw pins.translate("pinning", ex);
                }
            });
            pin.start();

            assertThat(pin.awaitDuration()).isLessThan(TIMEOUT.plus(LATENESS));
            assertThat(pin.failure)
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
        }
    }

    private void assertBackWhenInterrupted() throws Exception {
        // Shows how late the machine itself is.
        Call control = new Call("control", Duration.ZERO, () -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        });
        control.start();
        calls.values().forEach(Call::interrupt);
        control.interrupt();
        Duration late = control.awaitLeaving();
        for (Call call : calls.values()) {
            assertThat(call.awaitLeaving()).as(call.name).isLessThan(INTERRUPT_LIMIT.plus(late));
            assertThat(call.flag).as("flag after " + call.name).isTrue();
            assertThat(call.failure)
                    .as(call.name)
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
        }
    }

    private void prepare(Store store, Moment moment, Duration timeout) throws Exception {
        if (moment == Moment.TESTED) {
            System.setProperty(ALIVE_WINDOW, "0");
        } else if (moment == Moment.SET_UP) {
            System.setProperty(ALIVE_WINDOW, String.valueOf(Duration.ofHours(1).toMillis()));
        }
        proxy = store == Store.REDIS ? new RedisProxy(redis.url()) : new PostgresProxy(database.url());
        int poolSize = moment == Moment.POOL_OF_ONE ? 1 : 24;
        backend = backend(store, poolSize, timeout);
        engine = new LockEngine(
                backend,
                new EngineSettings(
                        "test",
                        Duration.ofMinutes(10),
                        Duration.ZERO,
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ZERO,
                        Duration.ZERO,
                        Map.of()),
                TransactionBoundary.NONE,
                List.of());
        if (moment.isConnected()) {
            connect(poolSize);
            LockRequest held = LockRequest.of("extended").noHeartbeat();
            LockHandle extended = engine.acquire(held);
            LockHandle released = engine.acquire(held.key("released"));
            LockHandle byId = engine.acquire(held.key("released by id"));
            add("extend", () -> extended.extend(Duration.ofMinutes(1)));
            add("extend by id", () -> engine.extend("A".repeat(22), Duration.ofMinutes(1)));
            Duration waitTime = timeout.equals(TIMEOUT) ? TIMEOUT : Duration.ofMinutes(1);
            Call waiter = new Call(
                    "acquire in a queue",
                    waitTime,
                    () -> engine.acquire(held.key("extended").waitTime(waitTime)));
            calls.put(waiter.name, waiter);
            waiter.start();
            eventually()
                    .until(() -> engine.admin()
                            .status("extended")
                            .filter(status -> status.waiters() > 0)
                            .isPresent());
            add("release", released::release);
            add("release by id", () -> engine.release(byId.lockId()));
        }
        addCalls();
        if (moment == Moment.SET_UP) {
            eventually().until(() -> backend.pool().idle() > 0);
        }
        if (moment == Moment.SLOW && store == Store.REDIS) {
            // Sends many requests, each with a limit.
            calls.remove("list");
        }
    }

    private StoreCalls backend(Store store, int poolSize, Duration timeout) {
        String url = proxy.url();
        if (store == Store.REDIS) {
            return ApplicationBackend.on(url, poolSize, timeout, PostgresSettings.WAITER_TTL);
        }
        return ApplicationBackend.onReadyPostgres(
                url,
                poolSize,
                timeout,
                PostgresSettings.WAITER_TTL,
                store == Store.POSTGRES ? PostgresBatching.AUTO : PostgresBatching.ALWAYS);
    }

    /** Opens as many connections as there will be callers, so that each caller meets an open one. */
    private void connect(int connections) throws Exception {
        List<Call> connecting = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            String key = "connect:" + i;
            connecting.add(new Call(key, Duration.ZERO, () -> engine.isLocked(key)));
        }
        connecting.forEach(Call::start);
        for (Call call : connecting) {
            call.awaitDuration();
        }
    }

    private void addCalls() {
        LockRequest request = LockRequest.of("acquired");
        LeaderElection election = new LeaderElection(engine, "test", Duration.ZERO);
        add("acquire", () -> engine.acquire(request));
        calls.put(
                "acquire with a wait time",
                new Call(
                        "acquire with a wait time",
                        WAIT_TIME,
                        () -> engine.acquire(request.key("waited").waitTime(WAIT_TIME))));
        add("acquire shared", () -> engine.acquire(request.key("read").shared()));
        add("try to acquire", () -> engine.tryAcquire(request.key("tried")));
        add("acquire together", () -> engine.acquire(List.of(request.key("together:1"), request.key("together:2"))));
        add("is locked", () -> engine.isLocked("order"));
        add("lookup", () -> engine.admin().lookup("order"));
        add("lookup by id", () -> engine.admin().lookupById("A".repeat(22)));
        add("status", () -> engine.admin().status("order"));
        add("list", () -> engine.admin().list(LockQuery.all()));
        add("summary", engine.admin()::summary);
        add("release by force", () -> engine.admin().forceRelease("order", "test"));
        add("leader", () -> election.leader("scheduler"));
    }

    private void add(String name, Runnable work) {
        calls.put(name, new Call(name, Duration.ZERO, work));
    }

    private void hang(Moment moment) {
        switch (moment) {
            case SLOW, SET_UP -> proxy.delayAnswers(TIMEOUT.multipliedBy(2).dividedBy(5));
            case CUT -> {
                proxy.fallSilent();
                proxy.cut();
            }
            default -> proxy.fallSilent();
        }
    }

    /** Lets all statements wait at the server. */
    private AutoCloseable block(Store store) throws SQLException {
        if (store == Store.REDIS) {
            return redis.freeze()::run;
        }
        Connection other = database.jdbc().getDataSource().getConnection();
        other.setAutoCommit(false);
        try (Statement statement = other.createStatement()) {
            statement.execute("LOCK TABLE syncguard_locks, syncguard_locks_shared, syncguard_locks_waiters,"
                    + " syncguard_fence_counters IN ACCESS EXCLUSIVE MODE");
        }
        return () -> {
            other.rollback();
            other.close();
        };
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }

    /** One operation on a thread of its own. */
    private static final class Call {

        private final String name;
        private final Duration waitTime;
        private final Thread thread;
        private volatile Throwable failure;
        private volatile boolean flag;
        private volatile long began;
        private volatile long interruptedAt;
        private volatile long ended;

        Call(String name, Duration waitTime, Runnable work) {
            this.name = name;
            this.waitTime = waitTime;
            this.thread = new Thread(() -> run(work), name);
            thread.setDaemon(true);
        }

        private void run(Runnable work) {
            began = System.nanoTime();
            try {
                work.run();
            } catch (LockNotAcquiredException ex) {
                // A refusal is an answer.
            } catch (Throwable ex) {
                failure = ex;
            }
            ended = System.nanoTime();
            flag = Thread.currentThread().isInterrupted();
        }

        void start() {
            if (thread.getState() == Thread.State.NEW) {
                thread.start();
            }
        }

        void interrupt() {
            interruptedAt = System.nanoTime();
            thread.interrupt();
        }

        boolean isAlive() {
            return thread.isAlive();
        }

        /** Whether the thread waits for another one or for an answer. */
        boolean isBlocked() {
            StackTraceElement[] stack = thread.getStackTrace();
            return stack.length > 0
                    && (thread.getState() == Thread.State.WAITING
                            || thread.getState() == Thread.State.TIMED_WAITING
                            || stack[0].getClassName().equals("sun.nio.ch.Net")
                                    && stack[0].getMethodName().equals("poll"));
        }

        Duration awaitDuration() throws InterruptedException {
            join();
            return Duration.ofNanos(ended - began);
        }

        Duration awaitLeaving() throws InterruptedException {
            join();
            return Duration.ofNanos(ended - interruptedAt);
        }

        private void join() throws InterruptedException {
            thread.join(Duration.ofMinutes(1).toMillis());
            assertThat(thread.isAlive()).as(name + " hangs").isFalse();
        }
    }
}
