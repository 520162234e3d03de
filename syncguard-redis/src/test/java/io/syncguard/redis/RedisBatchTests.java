package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
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

    private final List<StoreCalls> opened = new ArrayList<>();
    private @Nullable RedisConnections connections;
    private @Nullable RedisScriptRunner scripts;

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
        opened.forEach(StoreCalls::close);
        if (connections != null) {
            connections.close();
        }
    }

    @Test
    void each_operation_has_its_own_answer_and_its_own_error() throws Exception {
        redis.commands().set("{syncguard}:lock:broken", "of somebody else");
        List<?> answers = send(List.of(
                        acquire("free", 'A'),
                        acquire("free", 'B'),
                        acquire("broken", 'C'),
                        release("free", 'A'),
                        release("free", 'D')))
                .get(20, TimeUnit.SECONDS);

        assertThat(answers).hasSize(5);
        assertThat(word(answers.get(0))).startsWith("granted ");
        assertThat(word(answers.get(1))).isEqualTo("refused");
        assertThat(word(answers.get(2))).isEqualTo("error");
        assertThat(new RedisReply((List<?>) answers.get(2)).text(1)).contains("WRONGTYPE");
        assertThat(word(answers.get(3))).isEqualTo("released");
        assertThat(word(answers.get(4))).isEqualTo("not_found");
    }

    @Test
    void requests_with_permits_of_one_batch_count_the_grants_and_releases_in_front_of_them() throws Exception {
        List<?> answers = send(List.of(
                        acquire("one", 'A', "SHARED2"),
                        acquire("one", 'B', "SHARED2"),
                        acquire("one", 'C', "SHARED2"),
                        acquire("one", 'D', "SHARED3"),
                        acquire("one", 'E', "SHARED3"),
                        release("one", 'A'),
                        acquire("one", 'F', "SHARED3"),
                        release("one", 'B'),
                        release("one", 'D'),
                        acquire("one", 'G', "SHARED1"),
                        acquire("one", 'H', "SHARED2"),
                        acquire("one", 'I', "SHARED"),
                        acquire("one", 'J')))
                .get(20, TimeUnit.SECONDS);

        assertThat(answers.stream().map(answer -> word(answer).split(" ")[0]))
                .containsExactly(
                        "granted",
                        "granted",
                        "refused",
                        "granted",
                        "refused",
                        "released",
                        "granted",
                        "released",
                        "released",
                        "refused",
                        "granted",
                        "granted",
                        "refused");
        assertThat(IntStream.of(0, 1, 3, 6, 10, 11)
                        .mapToObj(i -> word(answers.get(i)).split(" ")[1])
                        .map(Long::valueOf))
                .as("fences")
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
    }

    @Test
    void operations_for_which_nobody_waits_are_not_sent_again_with_the_text_of_the_script() throws Exception {
        connect();
        Runnable thaw = redis.freeze();
        try {
            send(List.of(acquire("left", 'A'))).cancel(false);
        } finally {
            thaw.run();
        }

        // The server answers in order, first that it does not know the script.
        assertThat(send(List.of(acquire("next", 'B'))).get(20, TimeUnit.SECONDS))
                .hasSize(1);
        assertThat(redis.commands().keys("*:lock:*")).containsExactly("{syncguard}:lock:next");
    }

    @Test
    void a_caller_gets_the_error_of_its_operation_as_if_it_was_sent_alone() {
        redis.commands().set("{syncguard}:lock:broken", "of somebody else");

        for (RedisBatching batching : RedisBatching.values()) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> open(batching).acquire(request("broken", 'A')))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .withMessageStartingWith("Failed while acquiring lock 'broken': Redis at ")
                    .withMessageContaining("refuses a key: WRONGTYPE");
        }
    }

    @Test
    void the_keys_of_one_caller_are_one_script_and_their_releases_another() {
        redis.commands().set("{syncguard}:lock:broken", "of somebody else");
        StoreCalls backend = open(RedisBatching.AUTO);
        // Afterwards the server knows the script.
        backend.releaseTogether(List.of(new KeyedLockId("none", id('D')), new KeyedLockId("none", id('E'))));

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() ->
                        backend.acquireTogether(List.of(request("one", 'A'), request("broken", 'B')), GrantExtent.ALL))
                .withMessageContaining("refuses a key: WRONGTYPE");
        assertThat(backend.isLocked("one")).isFalse();
        long before = scripts();
        assertThat(backend.acquireTogether(List.of(request("one", 'A'), request("two", 'C')), GrantExtent.ALL))
                .hasOnlyElementsOfType(AcquireResult.Granted.class);
        assertThat(scripts() - before).isEqualTo(1);
        assertThat(backend.releaseTogether(List.of(
                        new KeyedLockId("one", id('A')),
                        new KeyedLockId("none", id('B')),
                        new KeyedLockId("two", id('C')))))
                .containsExactly(ReleaseResult.RELEASED, ReleaseResult.NOT_FOUND, ReleaseResult.RELEASED);
        assertThat(scripts() - before).isEqualTo(2);
    }

    @Test
    void few_callers_at_once_send_no_batch_however_many_there_were_before() {
        StoreCalls backend = open(RedisBatching.AUTO);
        backend.isLocked("order:42");
        long before = scripts();

        for (int i = 0; i < 40; i++) {
            assertThat(backend.acquire(request("order:42", 'A'))).isInstanceOf(AcquireResult.Granted.class);
            assertThat(backend.release(new KeyedLockId("order:42", id('A')))).isEqualTo(ReleaseResult.RELEASED);
        }

        // The first ones are sent by their digest, which the server does not know, and by their text.
        assertThat(scripts() - before).isEqualTo(82);
        assertThat(knowsBatches()).isFalse();
    }

    @Test
    void many_callers_share_scripts_and_each_gets_its_own_lock() throws Exception {
        long sent = scriptsOfSixtyCallers(RedisBatching.AUTO);

        assertThat(sent).isLessThan(60);
        assertThat(knowsBatches()).isTrue();
    }

    @Test
    void many_callers_send_no_batch_if_it_is_off() throws Exception {
        long sent = scriptsOfSixtyCallers(RedisBatching.OFF);

        assertThat(sent).isEqualTo(60);
        assertThat(knowsBatches()).isFalse();
    }

    private long scriptsOfSixtyCallers(RedisBatching batching) throws Exception {
        StoreCalls backend = open(redis.url(), batching, Duration.ofMinutes(1));
        // Knows the script.
        backend.acquire(request("first", 'z'));
        long before = scripts();
        List<Caller> callers = new ArrayList<>();
        Runnable thaw = redis.freeze();
        try {
            IntStream.range(0, 60)
                    .forEach(i -> callers.add(new Caller(
                            backend,
                            Requests.exclusive("order:" + i, String.format(Locale.ROOT, "%022d", i), TTL, "test"))));
            eventually().until(() -> callers.stream().allMatch(Caller::isWaiting));
        } finally {
            thaw.run();
        }
        for (Caller each : callers) {
            assertThat(each.answer()).isInstanceOf(AcquireResult.Granted.class);
        }

        long sent = scripts() - before;

        assertThat(IntStream.range(0, 60)).allMatch(i -> backend.isLocked("order:" + i));
        return sent;
    }

    @Test
    void after_lost_answers_each_operation_is_in_doubt_by_itself() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            StoreCalls backend = open(proxy.url(), RedisBatching.ALWAYS);
            backend.acquire(request("known", 'z'));
            proxy.fallSilent();
            Caller a = new Caller(backend, request("a", 'A'));
            Caller b = new Caller(backend, request("b", 'B'));

            StoreCalls elsewhere = open(RedisBatching.OFF);
            eventually().until(() -> elsewhere.isLocked("a") && elsewhere.isLocked("b"));
            proxy.speakAgain();

            assertThat(a.failure())
                    .isNotInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'a'");
            assertThat(b.failure())
                    .isNotInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'b'");
            eventually()
                    .ignoreExceptions()
                    .until(() -> backend.release(id('A')).outcome() == ReleaseResult.Outcome.RELEASED);
        }
    }

    @Test
    void a_caller_whose_time_is_over_in_the_queue_has_not_sent_its_request() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            StoreCalls backend = open(proxy.url(), RedisBatching.ALWAYS);
            sendBatchesWhoseAnswersAreLost(backend, proxy);

            assertThatExceptionOfType(RequestNotSentException.class)
                    .isThrownBy(() -> backend.acquire(Requests.exclusive("c", id('C'), Duration.ofMillis(600), "test")))
                    .withMessageStartingWith("Failed while acquiring lock 'c'")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
        }
    }

    @Test
    void a_caller_interrupted_in_the_queue_has_not_sent_its_request_and_one_interrupted_later_is_in_doubt() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            StoreCalls backend = open(proxy.url(), RedisBatching.ALWAYS, Duration.ofMinutes(1));
            List<Caller> sent = sendBatchesWhoseAnswersAreLost(backend, proxy);
            Caller queued = new Caller(backend, request("c", 'C'));
            queued.awaitWaiting();

            queued.interrupt();
            assertThat(queued.failure())
                    .isInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'c': the thread was interrupted")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
            sent.get(0).interrupt();

            assertThat(sent.get(0).failure())
                    .isNotInstanceOf(RequestNotSentException.class)
                    .hasMessageStartingWith("Failed while acquiring lock 'a': the thread was interrupted")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
            assertThat(List.of(queued, sent.get(0))).allMatch(Caller::wasInterrupted);
            assertThat(sent.get(1).isWaiting()).isTrue();
        }
    }

    @Test
    void a_close_ends_the_wait_of_callers_in_batches_and_in_the_queue() {
        try (RedisProxy proxy = new RedisProxy(redis.url())) {
            StoreCalls backend = open(proxy.url(), RedisBatching.ALWAYS, Duration.ofMinutes(1));
            List<Caller> all = new ArrayList<>(sendBatchesWhoseAnswersAreLost(backend, proxy));
            all.add(new Caller(backend, request("c", 'C')));
            all.add(new Caller(backend, request("d", 'D')));
            all.forEach(Caller::awaitWaiting);

            backend.close();

            assertThat(all)
                    .allSatisfy(
                            caller -> assertThat(caller.failure().code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
            assertThat(open(RedisBatching.OFF).isLocked("c")).isFalse();
        }
    }

    /** Afterwards there is no room for another batch until the callers leave. */
    private List<Caller> sendBatchesWhoseAnswersAreLost(StoreCalls backend, RedisProxy proxy) {
        backend.acquire(request("known", 'z'));
        proxy.fallSilent();
        StoreCalls elsewhere = open(RedisBatching.OFF);
        List<Caller> sent = new ArrayList<>();
        for (char each : new char[] {'a', 'b', 'e'}) {
            String key = String.valueOf(each);
            sent.add(new Caller(backend, request(key, each)));
            // Together they could be in one batch.
            eventually().until(() -> elsewhere.isLocked(key));
        }
        return sent;
    }

    /** A thread that acquires a lock. */
    private static final class Caller {

        private final FutureTask<AcquireResult> call;
        private final Thread thread;
        private volatile boolean interrupted;

        Caller(StoreCalls backend, AcquireRequest request) {
            call = new FutureTask<>(() -> {
                try {
                    return backend.acquire(request);
                } finally {
                    interrupted = Thread.currentThread().isInterrupted();
                }
            });
            thread = new Thread(call);
            thread.setDaemon(true);
            thread.start();
        }

        boolean isWaiting() {
            return EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(thread.getState());
        }

        void awaitWaiting() {
            eventually().until(this::isWaiting);
        }

        void interrupt() {
            thread.interrupt();
        }

        /** Whether it was when the call ended. */
        boolean wasInterrupted() {
            return interrupted;
        }

        AcquireResult answer() throws Exception {
            return call.get(20, TimeUnit.SECONDS);
        }

        LockBackendException failure() {
            return (LockBackendException)
                    catchThrowableOfType(ExecutionException.class, this::answer).getCause();
        }
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20));
    }

    private StoreCalls open(RedisBatching batching) {
        return open(redis.url(), batching);
    }

    private StoreCalls open(String url, RedisBatching batching) {
        return open(url, batching, TIMEOUT);
    }

    private StoreCalls open(String url, RedisBatching batching, Duration timeout) {
        StoreCalls backend = batching.backend(
                RedisServer.connections(url),
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        timeout,
                        RedisSettings.WAITER_TTL,
                        1,
                        FenceSettings.from(FenceSource.COUNTER)));
        opened.add(backend);
        return backend;
    }

    private RedisScriptRunner connect() {
        if (scripts == null) {
            RedisSettings settings = new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL);
            connections = new RedisConnections(RedisServer.connections(redis.url()), settings, "");
            scripts = new RedisScriptRunner(connections, settings, Time.SYSTEM);
            scripts.connect("testing", TIMEOUT.toMillis());
        }
        return scripts;
    }

    private CompletableFuture<List<?>> send(List<RedisRequest> requests) {
        return connect().send(RedisRequest.batch("testing", requests), TIMEOUT.toMillis(), RedisReply::items);
    }

    private static RedisRequest acquire(String key, char lockId) {
        return acquire(key, lockId, "EXCLUSIVE");
    }

    private static RedisRequest acquire(String key, char lockId, String mode) {
        return new RedisRequest(
                "acquiring " + key,
                RedisScript.named("acquire"),
                shard(),
                new RedisLock(key, key, shard()).keys(id(lockId)),
                RedisArguments.of(List.of("", id(lockId), mode, "61000", "test\0", key, "")));
    }

    private static RedisRequest release(String key, char lockId) {
        return new RedisRequest(
                "releasing",
                RedisScript.named("release"),
                shard(),
                new RedisLock(key, key, shard()).keys(id(lockId)),
                RedisArguments.of(List.of("", id(lockId), "")));
    }

    private static RedisShard shard() {
        return new RedisShard(0, RedisSettings.KEY_PREFIX);
    }

    private static String word(Object answer) {
        return new RedisReply(answer instanceof List<?> items ? items : List.of(answer)).text(0);
    }

    private static AcquireRequest request(String key, char lockId) {
        return Requests.exclusive(key, id(lockId), TTL, "test");
    }

    private static String id(char letter) {
        return String.valueOf(letter).repeat(22);
    }

    private static boolean knowsBatches() {
        return redis.commands()
                .scriptExists(RedisScript.named("batch").digest())
                .get(0);
    }

    private static long scripts() {
        return SCRIPTS.matcher(redis.commands().info("commandstats"))
                .results()
                .mapToLong(calls -> Long.parseLong(calls.group(1)))
                .sum();
    }
}
