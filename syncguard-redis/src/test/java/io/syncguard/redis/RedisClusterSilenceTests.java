package io.syncguard.redis;

import static io.syncguard.LockErrorCode.NETWORK_TIMEOUT;
import static io.syncguard.LockErrorCode.SERVICE_UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;

/** A node of a cluster is silent: only its connection ends, and nothing that was sent on it takes effect later. */
class RedisClusterSilenceTests {

    private static final Duration TIMEOUT = Duration.ofMillis(500);
    private static final EngineSettings SETTINGS = new EngineSettings(
            "test",
            Duration.ofMinutes(10),
            Duration.ZERO,
            Duration.ofHours(1),
            Duration.ofHours(1),
            Duration.ZERO,
            Duration.ZERO,
            Map.of());

    /** Two prefixes whose slots are on different nodes. */
    private static final String HERE = "{syncguard}:";

    private static final String THERE = "{a}:";

    @Test
    void a_node_that_stood_still_is_served_over_a_new_connection_and_the_others_over_theirs() {
        try (OwnRedisCluster cluster = new OwnRedisCluster();
                RedisConnections connections = new RedisConnections(cluster.connections(), settings(HERE), "");
                LockEngine here = engine(connections, HERE);
                LockEngine there = engine(connections, THERE)) {
            awaitService(here);
            awaitService(there);
            OwnRedis node = cluster.nodeWith(HERE);
            OwnRedis other = cluster.nodeWith(THERE);
            assertThat(other).isNotSameAs(node);
            List<String> before = connectionsOf(node);
            List<String> othersBefore = connectionsOf(other);

            Runnable thaw = node.freeze();
            try {
                assertThat(codeOf(here, "order:42")).isEqualTo(NETWORK_TIMEOUT);
                eventually().until(() -> codeOf(here, "order:43") == SERVICE_UNAVAILABLE);
                awaitService(there);
            } finally {
                thaw.run();
            }

            awaitService(here);
            eventually()
                    .untilAsserted(
                            () -> assertThat(connectionsOf(node)).isNotEmpty().doesNotContainAnyElementsOf(before));
            assertThat(connectionsOf(other)).isEqualTo(othersBefore);
            assertThat(node.commands().get(HERE + "fence:order:42")).isEqualTo("1");
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.commands().keys(HERE + "lock:*")).isEmpty());
        }
    }

    /** From then on the node knows the scripts. */
    private static void awaitService(LockEngine engine) {
        eventually()
                .ignoreExceptions()
                .until(() -> engine.acquire(LockRequest.of("first")).release());
    }

    /** The connections that are used for locks. */
    private static List<String> connectionsOf(OwnRedis node) {
        return node.commands()
                .clientList()
                .lines()
                .filter(line -> line.contains("name=syncguard ") && line.contains(" cmd=eval"))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
    }

    private static LockErrorCode codeOf(LockEngine engine, String key) {
        return catchThrowableOfType(LockException.class, () -> engine.acquire(LockRequest.of(key)))
                .code();
    }

    private static LockEngine engine(RedisConnections connections, String prefix) {
        return new LockEngine(
                new RedisLockBackend(connections, settings(prefix), Time.SYSTEM),
                SETTINGS,
                TransactionBoundary.NONE,
                List.of());
    }

    private static RedisSettings settings(String prefix) {
        // Fences from counters are numbers of grants.
        return new RedisSettings(prefix, TIMEOUT, RedisSettings.WAITER_TTL, 1, FenceSettings.from(FenceSource.COUNTER));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20));
    }
}
