package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.LockQuery;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.embedded.OwnSentinel;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The rights that {@code docs/security.md} asks for are sufficient for every operation, and the scripts need each of
 * their commands.
 */
class RedisRightsTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    /** The rights that scripts do not need, and those without which waiters poll more often or receive no wake-up. */
    private static final List<String> OF_CONNECTIONS =
            List.of("+hello", "+ping", "+info", "+client|setname", "+evalsha", "+subscribe", "+publish");

    private static final String USER = "limited";

    private static OwnRedis redis;

    private final AcquireRequest holder = Requests.exclusive("order:42", "A".repeat(22), TTL, "test");
    private final AcquireRequest waiter =
            Requests.of("order:42", LockMode.EXCLUSIVE, 0, "B".repeat(22), TTL, "test", false, false, 7L);
    private final AcquireRequest reader =
            Requests.of("order:42", LockMode.SHARED, 0, "C".repeat(22), TTL, "test", false, false, 8L);

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @BeforeEach
    void empty() {
        redis.commands().flushall();
    }

    @Test
    void the_rights_of_the_manual_are_enough_and_wake_ups_arrive() throws Exception {
        allow(redis, RedisRights.toLock());

        assertEnough(connections());
    }

    @Test
    void they_are_enough_behind_a_sentinel() throws Exception {
        allow(redis, RedisRights.toLock());
        try (OwnSentinel sentinel = new OwnSentinel(redis, 0)) {
            assertEnough(RedisRights.as(USER, sentinel.connections()));
        }
    }

    @Test
    void they_are_enough_in_a_cluster_with_those_that_the_manual_adds() throws Exception {
        List<String> rights = RedisRights.toLock();
        rights.addAll(RedisRights.inACluster());
        try (OwnRedisCluster cluster = new OwnRedisCluster()) {
            cluster.nodes().forEach(node -> allow(node, rights));
            assertEnough(RedisRights.as(USER, cluster.connections()));
        }
    }

    @Test
    void they_are_enough_for_several_shards_with_what_the_manual_adds() throws Exception {
        List<String> rights = RedisRights.toLock();
        allow(redis, rights);
        RedisSettings four = new RedisSettings(
                RedisSettings.KEY_PREFIX,
                Duration.ofSeconds(5),
                Duration.ofMinutes(1),
                4,
                FenceSettings.from(FenceSource.CLOCK));
        AcquireRequest any = Requests.exclusive(
                "order:42", four.spread().lockIdIn(four.spread().ofName("order:42"), "A".repeat(22)), TTL, "test");
        try (StoreCalls backend = new StoreCalls(new RedisLockBackend(connections(), four))) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> backend.acquire(any))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));

            rights.addAll(RedisRights.forShards());
            allow(redis, rights);

            assertThat(backend.acquire(any)).isInstanceOf(AcquireResult.Granted.class);
            assertThat(backend.release(any.lockId())).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    private void assertEnough(LettuceConnectionFactory connections) {
        List<Long> woken = new CopyOnWriteArrayList<>();
        try (CapturedLog log = new CapturedLog();
                StoreCalls backend = checked(connections)) {
            backend.connect(wakeUps(woken));
            backend.acquire(holder);
            backend.acquire(waiter);
            eventually().until(backend::isConnected);
            backend.release(holder.lockId());
            eventually().untilAsserted(() -> assertThat(woken).containsExactly(7L));
            backend.release(waiter.lockId());

            useAllScripts(backend);

            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    void none_of_the_commands_of_the_scripts_is_too_many() throws Exception {
        List<String> rights = RedisRights.toLock();
        List<String> ofScripts = rights.stream()
                .filter(right -> right.startsWith("+") && !OF_CONNECTIONS.contains(right))
                .toList();

        assertThat(ofScripts).hasSizeGreaterThan(15).allSatisfy(right -> {
            redis.commands().flushall();
            redis.commands().scriptFlush();
            List<String> others =
                    rights.stream().filter(each -> !each.equals(right)).toList();
            allow(redis, others);
            try (StoreCalls backend = open(connections())) {
                assertThatExceptionOfType(LockBackendException.class)
                        .isThrownBy(() -> useAllScripts(backend))
                        .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
            }
        });
    }

    @Test
    void without_the_keys_of_the_prefix_nothing_works() {
        allow(redis, RedisRights.without("~"));
        try (StoreCalls backend = open(connections())) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> backend.acquire(holder))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"&", "+subscribe"})
    void without_the_right_to_subscribe_waiters_poll(String right) {
        allow(redis, RedisRights.without(right));
        try (CapturedLog log = new CapturedLog();
                StoreCalls backend = open(connections())) {
            backend.connect(wakeUps(new CopyOnWriteArrayList<>()));
            backend.acquire(holder);
            backend.acquire(waiter);

            eventually()
                    .untilAsserted(() -> assertThat(log.messages())
                            .anyMatch(message -> message.startsWith("Wake-ups from Redis do not arrive")));
            assertThat(backend.isConnected()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"~{other}:*", "~{syncguard}x*"})
    void a_user_of_another_prefix_reads_and_ends_nothing(String prefix) {
        allow(redis, RedisRights.toLock());
        try (StoreCalls backend = open(connections())) {
            backend.acquire(holder);
            List<String> others = RedisRights.without("~");
            others.add(prefix);
            RedisRights.allow(redis.commands(), "neighbour", others);
            try (StoreCalls neighbour = open(RedisServer.connections(redis.url("neighbour", RedisRights.PASSWORD)))) {
                assertThatExceptionOfType(LockBackendException.class)
                        .isThrownBy(() -> neighbour.lookup("order:42"))
                        .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
                assertThatExceptionOfType(LockBackendException.class)
                        .isThrownBy(() -> neighbour.forceRelease("order:42"));
            }
            assertThat(backend.release(holder.lockId())).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    private void useAllScripts(StoreCalls backend) {
        assertThat(backend.acquire(holder)).isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);
        assertThat(backend.acquire(reader)).isInstanceOf(AcquireResult.Queued.class);
        assertThat(backend.renewWaiters(List.of(waiter.keyedLockId(), reader.keyedLockId())))
                .hasSize(2);
        assertThat(backend.extendAll(List.of(Requests.extension(holder.lockId(), TTL))))
                .hasOnlyElementsOfType(ExtendResult.Extended.class);
        assertThat(backend.rotate(Requests.extension(holder.lockId(), TTL))).isInstanceOf(ExtendResult.Rotated.class);
        assertThat(backend.isLocked("order:42")).isTrue();
        assertThat(backend.lookup("order:42")).hasSize(1);
        assertThat(backend.status("order:42").orElseThrow().waiters()).isEqualTo(2);
        assertThat(backend.list(LockQuery.all()).locks()).hasSize(1);
        assertThat(backend.lookupById(holder.lockId())).isPresent();
        assertThat(backend.release(holder.lockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.forceRelease("order:42").released()).hasSize(1);
        assertThat(backend.release(reader.lockId())).isEqualTo(ReleaseResult.LEFT);
        assertThat(backend.acquire(holder)).isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.release(holder.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    private static void allow(OwnRedis server, List<String> rights) {
        RedisRights.allow(server.commands(), USER, rights);
    }

    private static LettuceConnectionFactory connections() {
        return RedisServer.connections(redis.url(USER, RedisRights.PASSWORD));
    }

    private static StoreCalls checked(LettuceConnectionFactory connections) {
        RedisLockBackend backend = backend(connections);
        backend.checkServer();
        return new StoreCalls(backend);
    }

    private static StoreCalls open(LettuceConnectionFactory connections) {
        return new StoreCalls(backend(connections));
    }

    private static RedisLockBackend backend(LettuceConnectionFactory connections) {
        return new RedisLockBackend(
                connections, new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), Duration.ofMinutes(1)));
    }

    private static WakeUpListener wakeUps(List<Long> woken) {
        return new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        };
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }
}
