package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.api.sync.RedisCommands;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
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
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The master is killed or stands still, and a replica takes over: locks go on there, as far as it has received them.
 */
class RedisFailoverTests {

    private static final Duration TTL = Duration.ofMinutes(10);

    private final AcquireRequest held = request("order:42", "A");
    private final AcquireRequest forgotten = request("order:43", "B");

    /** The next master has not received the last fences. By the clock, none of them is given again. */
    @ParameterizedTest
    @EnumSource
    void sentinel_names_the_next_master(FenceSource fences) {
        try (OwnRedis master = new OwnRedis();
                OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + master.port());
                OwnSentinel sentinel = new OwnSentinel(master, 1);
                StoreCalls backend = open(sentinel.connections(), Duration.ofSeconds(5), fences)) {
            long first = fence(backend, held);
            awaitReplication(master, replica.commands());
            // What the master grants from now on does not reach the replica.
            replica.commands().replicaof("127.0.0.1", OwnRedis.freePort());
            long lost = fence(backend, forgotten);
            long rotated = rotate(backend, held);

            master.kill();

            eventually().until(() -> sentinel.master() == replica.port());
            eventually().until(() -> isExtended(backend, held));
            assertThat(backend.acquire(request("order:42", "C"))).isInstanceOf(AcquireResult.Refused.class);
            assertThat(backend.release(held.lockId())).isEqualTo(ReleaseResult.RELEASED);
            assertThat(backend.extendAll(List.of(Requests.extension(forgotten.lockId(), TTL))))
                    .containsExactly(new ExtendResult.NotFound());
            long behindRotated = fence(backend, request("order:42", "D"));
            long behindLost = fence(backend, request("order:43", "E"));
            if (fences == FenceSource.CLOCK) {
                assertThat(List.of(first, rotated, behindRotated)).isSorted().doesNotHaveDuplicates();
                assertThat(behindLost).isGreaterThan(lost);
            } else {
                assertThat(List.of(first, rotated, behindRotated))
                        .as("a fence was given twice")
                        .containsExactly(1L, 2L, 2L);
                assertThat(List.of(lost, behindLost))
                        .as("the fences have begun again")
                        .containsExactly(1L, 1L);
            }
        }
    }

    @Tag("verification")
    @Test
    void a_cluster_goes_on_with_the_replica_of_the_node_that_had_the_locks() {
        try (OwnRedisCluster cluster = new OwnRedisCluster();
                StoreCalls backend = open(cluster.connections())) {
            long first = fence(backend, held);
            OwnRedis master = cluster.nodeWith(RedisSettings.KEY_PREFIX);
            RedisCommands<String, String> replica = cluster.addReplica(master).commands();
            awaitReplication(master, replica);

            master.kill();
            // Forces the failover: an agreement of the other nodes would take 15 seconds.
            replica.clusterFailover(false, true);

            eventually().until(() -> isExtended(backend, held));
            assertThat(backend.release(held.lockId())).isEqualTo(ReleaseResult.RELEASED);
            assertThat(fence(backend, request("order:42", "C"))).isGreaterThan(first);
        }
    }

    @Tag("verification")
    @Test
    void a_master_that_stands_still_is_left_for_the_one_that_sentinel_names() {
        try (OwnRedis master = new OwnRedis();
                OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + master.port());
                OwnSentinel sentinel = new OwnSentinel(master, 1);
                StoreCalls holder = open(sentinel.connections());
                StoreCalls backend = open(sentinel.connections(), Duration.ofMillis(500))) {
            fence(holder, held);
            eventually().until(() -> isExtended(backend, held));
            awaitReplication(master, replica.commands());

            Runnable thaw = master.freeze();
            try {
                eventually().until(() -> isExtended(backend, held));
                assertThat(sentinel.master()).isEqualTo(replica.port());
            } finally {
                thaw.run();
            }
        }
    }

    /** Whether the lease was extended. Until then the server may be unavailable; any other error fails the test. */
    private static void awaitReplication(OwnRedis master, RedisCommands<String, String> replica) {
        // From Valkey 9 on, WAIT also counts a replica that still receives the first copy.
        eventually().until(() -> replica.info("replication").contains("master_link_status:up"));
        assertThat(master.commands().waitForReplication(1, 30_000)).isEqualTo(1);
    }

    private static boolean isExtended(StoreCalls backend, AcquireRequest request) {
        try {
            List<ExtendResult> outcomes = backend.extendAll(List.of(Requests.extension(request.lockId(), TTL)));
            assertThat(outcomes).hasOnlyElementsOfType(ExtendResult.Extended.class);
            return true;
        } catch (LockBackendException ex) {
            assertThat(ex.code())
                    .as(String.valueOf(ex.getCause()))
                    .isIn(LockErrorCode.SERVICE_UNAVAILABLE, LockErrorCode.NETWORK_TIMEOUT);
            return false;
        }
    }

    private static long fence(StoreCalls backend, AcquireRequest request) {
        AcquireResult attempt = backend.acquire(request);
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) attempt).fence().value();
    }

    private static long rotate(StoreCalls backend, AcquireRequest request) {
        ExtendResult outcome = backend.rotate(Requests.extension(request.lockId(), TTL));
        assertThat(outcome).isInstanceOf(ExtendResult.Rotated.class);
        return ((ExtendResult.Rotated) outcome).fence().value();
    }

    private static AcquireRequest request(String key, String letter) {
        return Requests.exclusive(key, letter.repeat(22), TTL, "test");
    }

    private static StoreCalls open(LettuceConnectionFactory connections) {
        return open(connections, Duration.ofSeconds(5));
    }

    private static StoreCalls open(LettuceConnectionFactory connections, Duration timeout) {
        return open(connections, timeout, FenceSource.CLOCK);
    }

    private static StoreCalls open(LettuceConnectionFactory connections, Duration timeout, FenceSource fences) {
        return new StoreCalls(new RedisLockBackend(
                connections,
                new RedisSettings(
                        RedisSettings.KEY_PREFIX, timeout, RedisSettings.WAITER_TTL, 1, FenceSettings.from(fences))));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(50));
    }
}
