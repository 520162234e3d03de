package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.KillArgs;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks in a cluster of three nodes: each prefix is on one of them, and wake-ups arrive from all. */
class RedisClusterTests extends WokenWaitersContract {

    private static final OwnRedisCluster cluster = new OwnRedisCluster();

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore(cluster, 1, RedisBatching.AUTO);

    @Test
    void locks_of_many_keys_are_kept_together_and_extended_at_once() {
        List<AcquireRequest> requests = IntStream.range(0, 100)
                .mapToObj(i -> held(request("order:" + i, LockMode.EXCLUSIVE, TTL)))
                .toList();

        assertThat(backend()
                        .extendAll(requests.stream()
                                .map(request -> Requests.extension(request.lockId(), TTL))
                                .toList()))
                .hasOnlyElementsOfType(ExtendResult.Extended.class);
        requests.forEach(this::release);
    }

    @Test
    void a_prefix_without_a_hash_tag_is_refused() {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> new RedisLockBackend(
                        cluster.connections(),
                        new RedisSettings("syncguard:", Duration.ofSeconds(2), RedisSettings.WAITER_TTL)))
                .withMessageContaining("hash tag")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void an_acquisition_whose_connection_is_lost_fails_at_once_and_is_not_sent_again() {
        AcquireRequest request = request("order:43", LockMode.EXCLUSIVE, TTL);
        cluster.nodes().forEach(OwnRedis::pauseWrites);
        try {
            CompletableFuture<Void> acquiring =
                    CompletableFuture.runAsync(() -> assertThatExceptionOfType(LockBackendException.class)
                            .isThrownBy(() -> backend().acquire(request))
                            .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE)));
            Awaitility.await()
                    .until(() -> cluster.nodes().stream()
                            .anyMatch(node -> node.commands().clientList().contains("cmd=evalsha")));

            cluster.nodes()
                    .forEach(node -> node.commands()
                            .clientKill(KillArgs.Builder.typeNormal().skipme()));

            acquiring.join();
        } finally {
            cluster.nodes().forEach(OwnRedis::goOn);
        }
        Awaitility.await().ignoreExceptions().until(() -> !backend().isLocked("order:43"));
        assertThat(store.storedFence("order:43")).isZero();
    }
}
