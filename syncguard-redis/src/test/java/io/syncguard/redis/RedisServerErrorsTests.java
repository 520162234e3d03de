package io.syncguard.redis;

import static io.syncguard.LockErrorCode.AUTH_FAILED;
import static io.syncguard.LockErrorCode.INTERNAL;
import static io.syncguard.LockErrorCode.INVALID_ARGUMENT;
import static io.syncguard.LockErrorCode.NETWORK_TIMEOUT;
import static io.syncguard.LockErrorCode.RATE_LIMITED;
import static io.syncguard.LockErrorCode.SERVICE_UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.RedisServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Errors of a real server: the error code that the caller receives, and what is left of the locks. */
class RedisServerErrorsTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    /** The prefix {syncguard}: of all keys and channels of these tests. */
    private static final String LOCK = "{syncguard}:lock:order:42";

    private static OwnRedis redis;

    private final List<StoreCalls> opened = new ArrayList<>();
    private final AcquireRequest request = Requests.exclusive("order:42", "A".repeat(22), TTL, "test");
    private StoreCalls backend;

    RedisBatching batching() {
        return RedisBatching.AUTO;
    }

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis("lua-time-limit 50");
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @BeforeEach
    void connect() {
        redis.commands().flushall();
        backend = open(redis.url());
    }

    @AfterEach
    void close() {
        opened.forEach(StoreCalls::close);
    }

    @Test
    void a_wrong_password_is_refused() {
        user(
                "wrong",
                AclSetuserArgs.Builder.on()
                        .addPassword("right")
                        .allKeys()
                        .allChannels()
                        .allCommands());

        StoreCalls refused = open(redis.url("wrong", "wrong"));

        // Each request connects again, and the driver does not always record in time why the server refuses.
        for (int i = 0; i < 300; i++) {
            assertFails(AUTH_FAILED, () -> refused.acquire(request));
        }
    }

    @Test
    void a_user_who_needs_no_password_is_not_the_default_user() {
        user(
                "open",
                AclSetuserArgs.Builder.on().nopass().allKeys().allChannels().allCommands());

        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
        server.setUsername("open");

        open(new LettuceConnectionFactory(server)).acquire(request);

        assertThat(redis.commands().clientList()).contains("name=syncguard").contains("user=open");
    }

    @Test
    void an_empty_user_name_means_the_default_user() {
        try (OwnRedis secret = new OwnRedis("requirepass secret")) {
            RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", secret.port());
            server.setUsername("");
            server.setPassword("secret");
            // In the newer protocol the driver itself takes an empty name for none.
            ClientOptions older = ClientOptions.builder()
                    .protocolVersion(ProtocolVersion.RESP2)
                    .build();
            LettuceConnectionFactory application = new LettuceConnectionFactory(
                    server,
                    LettuceClientConfiguration.builder().clientOptions(older).build());

            assertThat(open(application).acquire(request)).isInstanceOf(AcquireResult.Granted.class);
        }
    }

    @Test
    void a_missing_password_is_refused() {
        try (OwnRedis secret = new OwnRedis("requirepass secret")) {
            assertFails(AUTH_FAILED, () -> open(secret.url()).acquire(request));
        }
    }

    @Test
    void a_user_without_access_to_the_keys_is_refused() {
        user(
                "foreigner",
                AclSetuserArgs.Builder.on()
                        .addPassword("right")
                        .keyPattern("other:*")
                        .allCommands());
        StoreCalls foreigner = open(redis.url("foreigner", "right"));

        assertFails(AUTH_FAILED, () -> foreigner.acquire(request));
        assertFails(AUTH_FAILED, () -> foreigner.release(request.lockId()));
    }

    @Test
    void a_user_who_may_not_use_a_command_is_refused_and_acquires_nothing() {
        user(
                "limited",
                AclSetuserArgs.Builder.on()
                        .addPassword("right")
                        .allKeys()
                        .allCommands()
                        .removeCommand(CommandType.SET));

        assertFails(AUTH_FAILED, () -> open(redis.url("limited", "right")).acquire(request));

        assertThat(backend.isLocked("order:42")).isFalse();
    }

    @Test
    void a_user_needs_no_more_than_the_keys_and_channels_of_the_prefix() {
        user(
                "enough",
                AclSetuserArgs.Builder.on()
                        .addPassword("right")
                        .resetKeys()
                        .resetChannels()
                        .keyPattern("{syncguard}:*")
                        .channelPattern("{syncguard}:*")
                        .allCommands());
        StoreCalls enough = open(redis.url("enough", "right"));
        enough.connect(new Deaf());

        assertThat(enough.acquire(request)).isInstanceOf(AcquireResult.Granted.class);
        assertThat(enough.acquire(Requests.exclusive("order:42", "B".repeat(22), TTL, "test")
                        .waitingAs(1)))
                .isInstanceOf(AcquireResult.Queued.class);
        Awaitility.await().until(enough::isConnected);
        assertThat(enough.release(request.lockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void scripts_that_the_server_has_forgotten_are_sent_again() {
        backend.acquire(request);
        redis.commands().scriptFlush();

        assertThat(backend.release(request.lockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_server_that_forgets_scripts_all_the_time_fails_no_operation() {
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Void> forgetting = CompletableFuture.runAsync(() -> {
            while (!ended.get()) {
                redis.commands().scriptFlush();
            }
        });
        try {
            CompletableFuture.allOf(IntStream.range(0, 4)
                            .mapToObj(caller -> CompletableFuture.runAsync(() -> acquireAndRelease("k" + caller, 50)))
                            .toArray(CompletableFuture[]::new))
                    .join();
        } finally {
            ended.set(true);
            forgetting.join();
        }
    }

    private void acquireAndRelease(String key, int times) {
        for (int i = 0; i < times; i++) {
            String lockId = String.format(Locale.ROOT, "%s%020d", key, i);
            AcquireRequest each = Requests.exclusive(key, lockId, TTL, "test");
            assertThat(backend.acquire(each)).isInstanceOf(AcquireResult.Granted.class);
            assertThat(backend.extend(Requests.extension(lockId, TTL))).isInstanceOf(ExtendResult.Extended.class);
            assertThat(backend.release(lockId)).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    @Test
    void a_server_that_stopped_is_unavailable_and_one_that_comes_back_empty_knows_no_lease_and_no_fence() {
        try (OwnRedis brief = new OwnRedis()) {
            StoreCalls client = open(brief.url());
            client.acquire(request);
            client.release(request.lockId());
            Fence last = ((AcquireResult.Granted) client.acquire(request)).fence();
            brief.stop();
            assertFails(SERVICE_UNAVAILABLE, () -> client.isLocked("order:42"));
            assertFails(SERVICE_UNAVAILABLE, () -> client.acquire(request));

            brief.start();

            Awaitility.await().ignoreExceptions().until(() -> !client.isLocked("order:42"));
            assertThat(client.extendAll(List.of(Requests.extension(request.lockId(), TTL))))
                    .containsExactly(new ExtendResult.NotFound());
            assertThat(client.release(request.lockId())).isEqualTo(ReleaseResult.NOT_FOUND);
            assertThat(client.acquire(request))
                    .isInstanceOfSatisfying(
                            AcquireResult.Granted.class,
                            grant -> assertThat(grant.fence()).isGreaterThan(last));
        }
    }

    @Test
    void a_replica_is_unavailable_for_locks_and_can_be_asked() {
        backend.acquire(request);
        try (OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + redis.port())) {
            StoreCalls client = open(replica.url());
            Awaitility.await().ignoreExceptions().until(() -> client.isLocked("order:42"));

            assertFails(SERVICE_UNAVAILABLE, () -> client.release(request.lockId()));
            assertFails(
                    SERVICE_UNAVAILABLE,
                    () -> client.acquire(Requests.exclusive("order:43", request.lockId(), TTL, "test")));
        }
    }

    @Test
    void a_full_memory_refuses_new_locks_and_lets_those_be_kept_and_released_that_are_held() {
        backend.acquire(request);
        AcquireRequest kept = Requests.exclusive("order:44", "K".repeat(22), TTL, "test");
        backend.acquire(kept);
        redis.commands().configSet("maxmemory", "1");
        try {
            assertFails(
                    RATE_LIMITED, () -> backend.acquire(Requests.exclusive("order:43", "B".repeat(22), TTL, "test")));
            assertThat(backend.isLocked("order:43")).isFalse();
            assertThat(redis.commands().get("{syncguard}:fence:order:43")).isNull();
            assertThat(backend.extendAll(List.of(Requests.extension(request.lockId(), TTL)))
                            .get(0))
                    .isInstanceOf(ExtendResult.Extended.class);
            assertThat(backend.rotate(Requests.extension(request.lockId(), TTL)))
                    .isInstanceOf(ExtendResult.Rotated.class);
            assertThat(backend.release(request.lockId())).isEqualTo(ReleaseResult.RELEASED);
            assertThat(backend.releaseAfter(kept.lockId(), TTL)).isEqualTo(ReleaseResult.RELEASED);
        } finally {
            redis.commands().configSet("maxmemory", "0");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_full_memory_lets_locks_be_released_by_force_and_their_waiters_go_on(FenceSource fences) {
        StoreCalls locks = open(RedisServer.connections(redis.url()), fences);
        locks.connect(new Deaf());
        AcquireRequest first = Requests.shared("order:42", "R".repeat(22), TTL, "test");
        long granted = ((AcquireResult.Granted) locks.acquire(first)).fence().value();
        locks.acquire(Requests.shared("order:42", "S".repeat(22), TTL, "test"));
        locks.acquire(waiter("W", 0));
        locks.acquire(Requests.exclusive("order:43", "X".repeat(22), TTL, "test"));
        redis.commands().configSet("maxmemory", "1");
        try {
            ForcedRelease released = locks.forceRelease("order:42");
            assertThat(released.released()).hasSize(2);
            assertThat(released.fence().value()).isGreaterThan(granted);
            assertThat(locks.isLocked("order:42")).isFalse();
            assertThat(locks.forceRelease("order:43").released()).hasSize(1);
            assertThat(locks.isLocked("order:43")).isFalse();
            assertThat(locks.forceRelease("order:44").released()).isEmpty();
        } finally {
            redis.commands().configSet("maxmemory", "0");
        }
        assertThat(locks.acquire(waiter("W", 0).fromQueue())).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void a_forced_release_that_finds_no_counter_in_its_key_changes_nothing() {
        backend.acquire(request);
        redis.commands().del("{syncguard}:fence:order:42");
        redis.commands().lpush("{syncguard}:fence:order:42", "other");

        assertFails(INVALID_ARGUMENT, () -> backend.forceRelease("order:42"));

        assertThat(backend.isLocked("order:42")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_full_memory_refuses_new_waiters_and_lets_waiters_be_renewed_and_handed_the_key(int permits) {
        backend.connect(new Deaf());
        backend.acquire(request);
        AcquireRequest waiter = waiter("W", permits);
        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);
        AcquireRequest reader = Requests.shared("order:44", "R".repeat(22), TTL, "test");
        backend.acquire(reader);
        List<String> before = redis.commands().keys("*");
        redis.commands().configSet("maxmemory", "1");
        try {
            assertFails(RATE_LIMITED, () -> backend.acquire(waiter("N", permits)));
            assertFails(RATE_LIMITED, () -> backend.acquire(Requests.shared("order:44", "S".repeat(22), TTL, "test")));
            assertThat(redis.commands().keys("*")).containsExactlyInAnyOrderElementsOf(before);
            assertThat(redis.commands().zcard("{syncguard}:queue:order:42")).isOne();
            assertThat(backend.renewWaiters(List.of(waiter.keyedLockId())).get(0))
                    .isPositive();
            assertThat(backend.acquire(waiter.fromQueue())).isInstanceOf(AcquireResult.Queued.class);
            assertThat(backend.acquire(request)).as("asked twice").isInstanceOf(AcquireResult.Granted.class);
            assertThat(backend.extend(Requests.extension(reader.key(), reader.lockId(), TTL)))
                    .isInstanceOf(ExtendResult.Extended.class);
            assertThat(backend.release(reader.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
            assertThat(backend.release(request.keyedLockId()).handOvers()).isNotEmpty();
            assertThat(backend.lookupById(waiter.keyedLockId())).isPresent();
        } finally {
            redis.commands().configSet("maxmemory", "0");
        }
    }

    /** Accepts a hand-over. */
    private static AcquireRequest waiter(String letter, int permits) {
        return Requests.of(
                "order:42",
                permits == 0 ? LockMode.EXCLUSIVE : LockMode.SHARED,
                permits,
                letter.repeat(22),
                TTL,
                "test",
                true,
                false,
                (long) letter.charAt(0));
    }

    @Test
    void a_server_that_is_busy_with_a_script_says_so() {
        backend.isLocked("order:42");
        try (RedisClient somebody = RedisClient.create(redis.url())) {
            somebody.connect().async().eval("while true do end", ScriptOutputType.STATUS);
            try {
                Awaitility.await().untilAsserted(() -> assertFails(RATE_LIMITED, () -> backend.isLocked("order:42")));
                assertFails(RATE_LIMITED, () -> backend.acquire(request));
            } finally {
                redis.commands().scriptKill();
            }
        }
        // The kill is answered before the script has ended.
        Awaitility.await().ignoreExceptions().until(() -> !backend.isLocked("order:42"));
    }

    @Test
    void a_server_that_does_not_answer_is_given_up_after_the_timeout() {
        backend.isLocked("order:42");
        redis.pauseWrites();
        try {
            assertFails(NETWORK_TIMEOUT, () -> backend.isLocked("order:42"));
        } finally {
            redis.goOn();
        }
    }

    /** A repeated request would be refused because of its own first grant. */
    @Test
    void an_acquisition_whose_connection_is_lost_fails_at_once_and_is_not_sent_again() {
        backend.isLocked("order:42");
        redis.pauseWrites();
        try {
            CompletableFuture<Void> acquiring =
                    CompletableFuture.runAsync(() -> assertFails(SERVICE_UNAVAILABLE, () -> backend.acquire(request)));
            Awaitility.await().until(() -> redis.commands().clientList().contains("cmd=evalsha"));

            redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());

            acquiring.join();
        } finally {
            redis.goOn();
        }
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> backend.lookup("order:42").isEmpty());
        assertThat(redis.commands().get("{syncguard}:fence:order:42")).isNull();
    }

    @Test
    void keys_of_somebody_else_under_the_prefix_are_an_error_and_stay() {
        redis.commands().set(LOCK, "mine");

        assertFails(INVALID_ARGUMENT, () -> backend.acquire(request));

        assertThat(redis.commands().get(LOCK)).isEqualTo("mine");
        assertThat(redis.commands().get("{syncguard}:fence:order:42")).isNull();
    }

    @Test
    void a_counter_at_its_end_grants_nothing_and_stays_there() {
        redis.commands().set("{syncguard}:fence:order:42", String.valueOf(Fence.MAX_VALUE));

        assertFails(INTERNAL, () -> backend.acquire(request));

        assertThat(backend.isLocked("order:42")).isFalse();
        assertThat(redis.commands().get("{syncguard}:fence:order:42")).isEqualTo(String.valueOf(Fence.MAX_VALUE));
    }

    @Test
    void large_fences_are_exact() {
        redis.commands().set("{syncguard}:fence:order:42", "899999999999998");

        backend.acquire(request);

        assertThat(backend.lookup("order:42"))
                .extracting(info -> info.fence().value())
                .containsExactly(899_999_999_999_999L);
    }

    private static void user(String name, AclSetuserArgs rights) {
        redis.commands().aclSetuser(name, rights);
    }

    private void assertFails(LockErrorCode code, ThrowingCallable call) {
        assertThatExceptionOfType(LockBackendException.class).isThrownBy(call).satisfies(ex -> {
            StringWriter trace = new StringWriter();
            ex.printStackTrace(new PrintWriter(trace));
            assertThat(ex.code()).as(trace.toString()).isEqualTo(code);
            assertThat(trace.toString()).doesNotContain(request.lockId());
        });
    }

    private StoreCalls open(String url) {
        return open(RedisServer.connections(url));
    }

    private StoreCalls open(LettuceConnectionFactory application) {
        return open(application, FenceSource.CLOCK);
    }

    private StoreCalls open(LettuceConnectionFactory application, FenceSource fences) {
        StoreCalls another = batching()
                .backend(
                        application,
                        new RedisSettings(
                                RedisSettings.KEY_PREFIX,
                                Duration.ofSeconds(2),
                                RedisSettings.WAITER_TTL,
                                1,
                                FenceSettings.from(fences)));
        opened.add(another);
        return another;
    }

    /** Ignores everything. */
    private static final class Deaf implements WakeUpListener {

        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    }
}
