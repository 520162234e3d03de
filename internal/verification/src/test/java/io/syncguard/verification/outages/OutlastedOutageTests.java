package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.integration.SyncGuardLockRegistry;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.ServerProxy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** Callers of every kind wait, and the server or the network fails for a while: each of them is granted its key. */
@Timeout(120)
@Tag("verification")
class OutlastedOutageTests {

    private static final Duration WAIT_TIME = Duration.ofMinutes(1);
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static OwnPostgres postgres;
    private static OwnRedis redis;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final String name = "test" + KEYS.incrementAndGet();

    @BeforeAll
    static void startServers() {
        postgres = new OwnPostgres();
        redis = new OwnRedis("lua-time-limit 50");
    }

    @AfterAll
    static void stopServers() throws IOException {
        postgres.close();
        redis.close();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        threads.shutdownNow();
    }

    static Stream<Outage> outages() {
        return Stream.of(
                new Outage("both connections are cut", true, ServerProxy::cut),
                new Outage("both connections are reset", true, ServerProxy::reset),
                new Outage("the network is silent", true, ServerProxy::fallSilent).until(ServerProxy::speakAgain),
                new Outage("the clients are killed", true, proxy -> {
                    redis.commands().clientKill(KillArgs.Builder.typePubsub());
                    redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
                }),
                new Outage("the server restarts empty", true, proxy -> redis.stop()).until(proxy -> redis.start()),
                new Outage(
                                "the master is a replica for a while",
                                true,
                                proxy -> redis.commands().replicaof("127.0.0.1", 1))
                        .until(proxy -> redis.commands().replicaofNoOne()),
                new Outage(
                                "replicas are missing",
                                true,
                                proxy -> redis.commands().configSet("min-replicas-to-write", "1"))
                        .until(proxy -> redis.commands().configSet("min-replicas-to-write", "0")),
                new Outage("a script runs for long", true, proxy -> runForLong())
                        .until(proxy -> redis.commands().scriptKill()),
                new Outage("all connections are cut", false, ServerProxy::cut),
                new Outage("all connections are reset", false, ServerProxy::reset),
                new Outage("the network is silent", false, ServerProxy::fallSilent).until(ServerProxy::speakAgain),
                new Outage(
                        "all sessions are ended",
                        false,
                        proxy -> postgres.jdbc()
                                .queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                        + " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")),
                new Outage("the server restarts", false, proxy -> postgres.stop()).until(proxy -> postgres.start()),
                new Outage("the server crashes", false, proxy -> postgres.kill()).until(proxy -> postgres.start()),
                new Outage("the server is a standby for a while", false, proxy -> {
                            postgres.stop();
                            postgres.startAsStandby();
                        })
                        .until(proxy -> postgres.promote()));
    }

    @ParameterizedTest
    @MethodSource("outages")
    void waiters_go_on(Outage outage) {
        StoreCalls elsewhere = opened(backend(outage.onRedis ? redis.url() : postgres.url()));
        ServerProxy proxy = opened(outage.onRedis ? new RedisProxy(redis.url()) : new PostgresProxy(postgres.url()));
        InterceptedBackend backend = new InterceptedBackend(backend(proxy.url()));
        LockEngine engine =
                opened(new LockEngine(backend, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of()));
        Map<String, Callable<String>> kinds = kinds(engine);
        Map<String, String> lockIds = new LinkedHashMap<>();
        for (String key : kinds.keySet()) {
            lockIds.put(key, elsewhere.lockIdFor(key, String.format(Locale.ROOT, "%022d", lockIds.size())));
            AcquireRequest held = Requests.exclusive(key, lockIds.get(key), Duration.ofMinutes(10), "elsewhere");
            eventually()
                    .ignoreExceptions()
                    .until(() -> elsewhere.acquire(held.fromQueue()) instanceof AcquireResult.Granted);
        }
        Map<String, CompletableFuture<String>> waiters = new LinkedHashMap<>();
        kinds.forEach((key, kind) -> waiters.put(key, start(kind)));
        eventually()
                .until(() -> backend.isConnected()
                        && kinds.keySet().stream()
                                .allMatch(key ->
                                        elsewhere.status(key).orElseThrow().waiters() == 1));

        outage.begin.on(proxy);
        if (outage.end != null) {
            int before = backend.renewalStatements.get();
            eventually().until(() -> backend.renewalStatements.get() >= before + 4 || ended(waiters) > 0);
            assertThat(ended(waiters)).as("of " + waiters).isZero();
            outage.end.on(proxy);
        }
        lockIds.values()
                .forEach(lockId -> eventually().ignoreExceptions().until(() -> {
                    elsewhere.release(lockId);
                    return true;
                }));

        waiters.forEach((key, waiter) -> assertThat(waiter)
                .as(key)
                .succeedsWithin(Duration.ofSeconds(30))
                .isEqualTo("granted"));
    }

    /** By the keys for which they wait. */
    private Map<String, Callable<String>> kinds(LockManager locks) {
        LockRequest request = LockRequest.of("unnamed").waitTime(WAIT_TIME);
        LockTemplate template = new LockTemplate(locks);
        Map<String, Callable<String>> kinds = new LinkedHashMap<>();
        kinds.put(key("exclusive"), () -> template.execute(request.key(key("exclusive")), lock -> "granted"));
        kinds.put(key("woken"), () -> template.execute(request.key(key("woken")).noHeartbeat(), lock -> "granted"));
        kinds.put(
                key("shared"), () -> template.execute(request.key(key("shared")).shared(), lock -> "granted"));
        kinds.put(key("first of several"), () -> {
            List<LockRequest> several = List.of(request.key(key("first of several")), request.key(key("second")));
            locks.acquire(several).close();
            return "granted";
        });
        kinds.put(
                key("reactive"),
                () -> new ReactiveLockTemplate(locks, threads)
                        .mono(request.key(key("reactive")), lock -> Mono.just("granted"))
                        .block());
        kinds.put(key("registry:of Spring Integration"), () -> {
            SyncGuardLockRegistry registry = new SyncGuardLockRegistry(locks, key("registry"), Duration.ofSeconds(30));
            var lock = registry.obtain("of Spring Integration");
            boolean granted = lock.tryLock(WAIT_TIME.toMillis(), TimeUnit.MILLISECONDS);
            lock.unlock();
            return granted ? "granted" : "refused";
        });
        kinds.put("leader:" + key("election"), () -> {
            LeaderElection election = opened(new LeaderElection(locks, "test", Duration.ofSeconds(1)));
            election.start();
            LeaderMember member = election.join(key("election"));
            Awaitility.await().atMost(WAIT_TIME).until(member::isLeader);
            return "granted";
        });
        return kinds;
    }

    private String key(String kind) {
        return name + ":" + kind;
    }

    private CompletableFuture<String> start(Callable<String> kind) {
        CompletableFuture<String> result = new CompletableFuture<>();
        threads.execute(() -> {
            try {
                result.complete(kind.call());
            } catch (Throwable ex) {
                result.completeExceptionally(ex);
            }
        });
        return result;
    }

    private static long ended(Map<String, CompletableFuture<String>> waiters) {
        return waiters.values().stream().filter(CompletableFuture::isDone).count();
    }

    /** Closed in the reverse order. */
    private <T extends AutoCloseable> T opened(T closeable) {
        synchronized (opened) {
            opened.add(0, closeable);
        }
        return closeable;
    }

    private static StoreCalls backend(String url) {
        // A server that has just started may be slow.
        return eventually()
                .ignoreExceptions()
                .until(() -> ApplicationBackend.on(url, 4, Duration.ofSeconds(1)), any -> true);
    }

    private static void runForLong() {
        RedisClient somebody = RedisClient.create(redis.url());
        somebody.connect()
                .async()
                .eval("while true do end", ScriptOutputType.STATUS)
                .whenComplete((any, error) -> somebody.shutdownAsync());
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20));
    }

    @FunctionalInterface
    private interface Step {
        void on(ServerProxy proxy);
    }

    private record Outage(String name, boolean onRedis, Step begin, Step end) {

        Outage(String name, boolean onRedis, Step begin) {
            this(name, onRedis, begin, null);
        }

        Outage until(Step end) {
            return new Outage(name, onRedis, begin, end);
        }

        @Override
        public String toString() {
            return (onRedis ? "Redis: " : "PostgreSQL: ") + name;
        }
    }
}
