package io.syncguard.redis;

import static io.syncguard.LockMode.EXCLUSIVE;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The connection for wake-ups stands, and no wake-up arrives on it: the process notices, and listens elsewhere. */
class RedisMissedWakeUpsTests {

    private static final String LOST = "Wake-ups from Redis do not arrive; waiting callers poll until they do";
    private static final String SILENT =
            "Wake-ups from Redis do not pass the pooler or proxy in front of it; waiting callers poll";
    private static final String OVER = "Wake-ups from Redis arrive again";

    private static final Duration TTL = Duration.ofMinutes(1);

    private final AcquireRequest holder = Requests.exclusive("order:42", "A".repeat(22), TTL, "test");
    private final AcquireRequest waiter =
            Requests.of("order:42", EXCLUSIVE, 0, "B".repeat(22), TTL, "test", false, false, 7L);
    private final List<Long> woken = new CopyOnWriteArrayList<>();
    private final CapturedLog log = new CapturedLog(Level.INFO);

    @AfterEach
    void close() {
        log.close();
    }

    enum Leaver {
        REPLICA,
        MASTER
    }

    /** A master leaves with its slots. No lock is there. */
    @ParameterizedTest
    @EnumSource
    @Tag("verification")
    void a_node_that_leaves_the_cluster_is_left(Leaver which) {
        try (OwnRedisCluster cluster = new OwnRedisCluster("cluster-require-full-coverage no")) {
            OwnRedis master = cluster.nodes().get(SlotHash.getSlot("{syncguard}") * 3 / SlotHash.SLOT_COUNT);
            OwnRedis leaver = which == Leaver.REPLICA
                    ? cluster.addReplica(master)
                    : cluster.nodes().get((cluster.nodes().indexOf(master) + 1) % 3);
            List<OwnRedis> others =
                    cluster.nodes().stream().filter(node -> node != leaver).toList();
            List<RedisClient> crowd =
                    others.stream().flatMap(RedisMissedWakeUpsTests::crowd).toList();
            try (StoreCalls backend = listening(cluster.connections())) {
                assertThat(channels(leaver))
                        .as("the driver chooses the node with the fewest clients")
                        .hasSize(1);

                String id = leaver.commands().clusterMyId();
                others.forEach(node -> node.commands().clusterForget(id));
                leaver.commands().clusterReset(false);

                assertListensAgain(backend, others);
                assertThat(channels(leaver)).isEmpty();
            } finally {
                crowd.forEach(RedisClient::shutdown);
            }
        }
    }

    /** The node does not know that the others have forgotten it, so it still names all nodes to the driver. */
    @Test
    @Tag("verification")
    void a_node_that_the_others_have_forgotten_is_left() {
        try (OwnRedisCluster cluster = new OwnRedisCluster()) {
            OwnRedis replica =
                    cluster.addReplica(cluster.nodes().get(SlotHash.getSlot("{syncguard}") * 3 / SlotHash.SLOT_COUNT));
            List<RedisClient> crowd = cluster.nodes().stream()
                    .flatMap(RedisMissedWakeUpsTests::crowd)
                    .toList();
            try (StoreCalls backend = listening(cluster.connections())) {
                assertThat(channels(replica))
                        .as("the driver chooses the node with the fewest clients")
                        .hasSize(1);

                String id = replica.commands().clusterMyId();
                cluster.nodes().forEach(node -> node.commands().clusterForget(id));

                assertListensAgain(backend, cluster.nodes());
            } finally {
                crowd.forEach(RedisClient::shutdown);
            }
        }
    }

    @Test
    void the_server_behind_the_address_is_followed_although_the_old_one_keeps_the_connection() {
        try (OwnRedis first = new OwnRedis();
                OwnRedis second = new OwnRedis();
                RedisProxy address = new RedisProxy(first.url());
                StoreCalls backend = listening(RedisServer.connections(address.url()))) {
            address.moveTo(second.port());
            first.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
            eventually().ignoreExceptions().until(() -> backend.acquire(holder) instanceof AcquireResult.Granted);
            eventually().until(() -> backend.acquire(waiter) instanceof AcquireResult.Queued);

            assertListensAgain(backend, List.of(second));
        }
    }

    @Test
    @Tag("verification")
    void where_messages_get_lost_callers_poll_until_they_arrive_again() {
        try (OwnRedis redis = new OwnRedis();
                RedisProxy address = new RedisProxy(redis.url());
                StoreCalls backend = listening(RedisServer.connections(address.url()))) {
            address.swallowMessages(true);
            eventually().until(() -> !backend.isConnected());
            eventually().until(() -> messages().equals(List.of(LOST)));

            address.swallowMessages(false);

            assertListensAgain(backend, List.of(redis));
            eventually().until(() -> messages().equals(List.of(LOST, OVER)));
        }
    }

    @Test
    @Tag("verification")
    void where_messages_have_always_been_lost_the_log_says_so_once() {
        try (OwnRedis redis = new OwnRedis();
                RedisProxy address = new RedisProxy(redis.url())) {
            address.swallowMessages(true);
            try (StoreCalls backend = waiting(RedisServer.connections(address.url()))) {
                eventually().until(() -> messages().equals(List.of(SILENT)));
                assertThat(backend.isConnected()).isFalse();

                address.swallowMessages(false);

                eventually().until(backend::isConnected);
                eventually().until(() -> messages().equals(List.of(SILENT, OVER)));
            }
        }
    }

    @Test
    @Tag("verification")
    void a_right_to_send_that_was_revoked_later_is_noticed() {
        try (OwnRedis redis = new OwnRedis()) {
            redis.commands()
                    .aclSetuser(
                            "service",
                            AclSetuserArgs.Builder.on()
                                    .addPassword("right")
                                    .allKeys()
                                    .allChannels()
                                    .allCommands());
            try (StoreCalls backend = listening(RedisServer.connections(redis.url("service", "right")))) {
                redis.commands().aclSetuser("service", AclSetuserArgs.Builder.removeCommand(CommandType.PUBLISH));

                eventually().until(() -> messages().equals(List.of(LOST)));
                assertThat(backend.isConnected()).isFalse();
                assertThat(log.stackTraces().get(0)).contains("denies the user a right");
            }
        }
    }

    private void assertListensAgain(StoreCalls backend, List<OwnRedis> others) {
        eventually()
                .until(() ->
                        others.stream().flatMap(each -> channels(each).stream()).count() == 1);
        eventually().until(backend::isConnected);
        backend.release(holder.lockId());
        eventually().untilAsserted(() -> assertThat(woken).containsExactly(7L));
        assertThat(messages()).startsWith(LOST);
    }

    private List<String> messages() {
        return log.messages().stream()
                .filter(each -> each.startsWith("Wake-ups "))
                .toList();
    }

    private static Stream<RedisClient> crowd(OwnRedis node) {
        return Stream.generate(() -> RedisClient.create(node.url())).limit(3).peek(RedisClient::connect);
    }

    private static List<String> channels(OwnRedis node) {
        return node.commands().pubsubChannels();
    }

    /** A process whose waiter is reached. */
    private StoreCalls listening(LettuceConnectionFactory connections) {
        StoreCalls backend = waiting(connections);
        eventually().until(backend::isConnected);
        return backend;
    }

    private StoreCalls waiting(LettuceConnectionFactory connections) {
        StoreCalls backend = new StoreCalls(new RedisLockBackend(
                connections,
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), Duration.ofMinutes(1))));
        backend.connect(new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        });
        backend.acquire(holder);
        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);
        return backend;
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(20));
    }
}
