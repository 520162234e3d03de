package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.core.AcquireRequests;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operations of many callers in one script: each has its own answer, and its own error. */
class RedisBatchTests {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

    private static OwnRedis redis;

    private final List<LockBackend> opened = new ArrayList<>();
    private @Nullable RedisConnections connections;
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @BeforeEach
    void forgetEverything() {
        redis.commands().flushall();
        redis.commands().scriptFlush();
    }

    @AfterEach
    void close() {
        callers.shutdownNow();
        opened.forEach(LockBackend::close);
        if (connections != null) {
            connections.close();
        }
    }

    @Test
    void each_operation_has_its_own_answer_and_its_own_error() throws Exception {
        redis.commands().set("{syncguard}:lock:broken", "of somebody else");
        RedisBatchSender sender = sender();

        List<Object> answers = sender.send(List.of(
                        acquire("free", 'A'), acquire("free", 'B'), acquire("broken", 'C'), release('A'), release('D')))
                .get(20, TimeUnit.SECONDS);

        assertThat(answers).hasSize(5);
        assertThat(word(answers.get(0))).isEqualTo("granted");
        assertThat(word(answers.get(1))).isEqualTo("refused");
        assertThat(word(answers.get(2))).isEqualTo("error");
        assertThat(new RedisReply((List<?>) answers.get(2)).text(1)).contains("WRONGTYPE");
        assertThat(word(answers.get(3))).isEqualTo("released");
        assertThat(word(answers.get(4))).isEqualTo("not_found");
    }

    @Test
    void a_caller_gets_the_error_of_its_operation_as_if_it_was_sent_alone() {
        redis.commands().set("{syncguard}:lock:broken", "of somebody else");

        for (RedisBatching batching : RedisBatching.values()) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> open(batching).acquire(request("broken", 'A')))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .withMessageStartingWith("Failed while acquiring lock 'broken': the server refused a key");
        }
    }

    @Test
    void few_callers_send_no_batch() {
        LockBackend backend = open(RedisBatching.AUTO);
        backend.isLocked("order:42");
        long before = scripts();

        assertThat(backend.acquire(request("order:42", 'A'))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.release("A".repeat(22))).isEqualTo(ReleaseResult.RELEASED);

        // Each is sent by its digest, which the server does not know, and by its text.
        assertThat(scripts() - before).isEqualTo(4);
        assertThat(redis.commands().scriptExists(RedisScript.named("batch").digest()))
                .containsExactly(false);
    }

    @Test
    void many_callers_share_scripts_and_each_gets_its_own_lock() throws Exception {
        LockBackend backend = open(RedisBatching.AUTO);
        backend.isLocked("order:42");
        // Knows the scripts.
        backend.acquire(request("first", 'z'));
        long before = scripts();
        List<Future<AcquireResult>> running = new ArrayList<>();
        Runnable thaw = redis.freeze();
        try {
            IntStream.range(0, 60)
                    .forEach(i -> running.add(callers.submit(() -> backend.acquire(
                            AcquireRequests.exclusive("order:" + i, String.format("%022d", i), TTL, "test")))));
        } finally {
            thaw.run();
        }
        for (Future<AcquireResult> each : running) {
            assertThat(each.get(20, TimeUnit.SECONDS)).isInstanceOf(AcquireResult.Granted.class);
        }

        assertThat(scripts() - before).isLessThan(60);
        assertThat(IntStream.range(0, 60)).allMatch(i -> backend.isLocked("order:" + i));
    }

    @Test
    void after_lost_answers_each_operation_is_in_doubt_by_itself() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            LockBackend backend = open(proxy.url(), RedisBatching.ALWAYS);
            backend.acquire(request("known", 'z'));
            proxy.fallSilent();
            Future<AcquireResult> a = callers.submit(() -> backend.acquire(request("a", 'A')));
            Future<AcquireResult> b = callers.submit(() -> backend.acquire(request("b", 'B')));

            LockBackend elsewhere = open(RedisBatching.OFF);
            eventually().until(() -> elsewhere.isLocked("a") && elsewhere.isLocked("b"));
            proxy.speakAgain();

            assertThat(failureOf(a))
                    .isNotInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'a'");
            assertThat(failureOf(b))
                    .isNotInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'b'");
            eventually().ignoreExceptions().until(() -> backend.release(id('A')) == ReleaseResult.RELEASED);
        }
    }

    @Test
    void a_caller_whose_time_is_over_in_the_queue_has_not_sent_its_request() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            LockBackend backend = open(proxy.url(), RedisBatching.ALWAYS);
            backend.acquire(request("known", 'z'));
            proxy.fallSilent();
            callers.submit(() -> backend.acquire(request("a", 'A')));
            callers.submit(() -> backend.acquire(request("b", 'B')));
            LockBackend elsewhere = open(RedisBatching.OFF);
            eventually().until(() -> elsewhere.isLocked("a") && elsewhere.isLocked("b"));

            assertThatExceptionOfType(RequestNotSentException.class)
                    .isThrownBy(() ->
                            backend.acquire(AcquireRequests.exclusive("c", id('C'), Duration.ofMillis(600), "test")))
                    .withMessageStartingWith("Failed while acquiring lock 'c'")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
        }
    }

    private static Throwable failureOf(Future<?> call) {
        return catchThrowableOfType(ExecutionException.class, () -> call.get(20, TimeUnit.SECONDS))
                .getCause();
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20));
    }

    private LockBackend open(RedisBatching batching) {
        return open(redis.url(), batching);
    }

    private LockBackend open(String url, RedisBatching batching) {
        LockBackend backend = new RedisLockBackend(
                RedisServer.connections(url),
                new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL, 1, batching));
        opened.add(backend);
        return backend;
    }

    private RedisBatchSender sender() {
        RedisSettings settings = new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL);
        connections = new RedisConnections(RedisServer.connections(redis.url()), settings);
        RedisScriptRunner scripts = new RedisScriptRunner(connections, TIMEOUT, Time.SYSTEM);
        scripts.connect("testing", TIMEOUT.toMillis());
        return new RedisBatchSender(scripts, shard());
    }

    private static RedisRequest acquire(String key, char lockId) {
        return new RedisRequest(
                "acquiring " + key,
                RedisScript.named("acquire"),
                shard(),
                List.of(key, "EXCLUSIVE", id(lockId), "60000", key, "test", "TRY"));
    }

    private static RedisRequest release(char lockId) {
        return new RedisRequest("releasing", RedisScript.named("release"), shard(), List.of(id(lockId)));
    }

    private static RedisShard shard() {
        return new RedisShard(0, RedisSettings.KEY_PREFIX);
    }

    private static String word(Object answer) {
        return new RedisReply(answer instanceof List<?> items ? items : List.of(answer)).text(0);
    }

    private static AcquireRequest request(String key, char lockId) {
        return AcquireRequests.exclusive(key, id(lockId), TTL, "test");
    }

    private static String id(char letter) {
        return String.valueOf(letter).repeat(22);
    }

    private static long scripts() {
        return SCRIPTS.matcher(redis.commands().info("commandstats"))
                .results()
                .mapToLong(calls -> Long.parseLong(calls.group(1)))
                .sum();
    }
}
