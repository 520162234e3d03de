package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ForwardingBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master of a cluster stands still: what concerns locks on the others does not wait for it. */
@Tag("verification")
class RedisHungMasterTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final RedisSettings SETTINGS = new RedisSettings(
            RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL, 3, FenceSettings.from(FenceSource.CLOCK));

    private final OwnRedisCluster cluster = new OwnRedisCluster();
    private final Set<String> failed = ConcurrentHashMap.newKeySet();
    private final Set<String> extending = ConcurrentHashMap.newKeySet();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();
    private final LockEngine engine = new LockEngine(
            new ForwardingBackend(new RedisLockBackend(
                    new RedisConnections(cluster.connections(), SETTINGS, ""), SETTINGS, Time.SYSTEM)) {
                @Override
                public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
                    requests.forEach(request -> extending.add(request.id().key()));
                    return super.extend(requests);
                }
            },
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
            List.of(new LockListener() {
                @Override
                public void lost(LockEvent event) {
                    lost.add(event.key());
                }

                @Override
                public void failed(LockEvent event, LockOperation operation, LockException error) {
                    failed.add(operation + " " + event.key());
                }
            }));

    private final String hung = keys(0).findFirst().orElseThrow();
    private final List<String> others =
            Stream.concat(keys(1).limit(6), keys(2).limit(6)).toList();
    private Runnable thaw = () -> {};

    @BeforeEach
    void know_the_scripts() {
        Stream.concat(Stream.of(hung), others.stream())
                .forEach(key -> Awaitility.await()
                        .ignoreExceptions()
                        .until(() -> engine.acquire(LockRequest.of(key)).release()));
    }

    @AfterEach
    void end() {
        thaw.run();
        engine.close();
        cluster.close();
    }

    @Test
    void short_locks_on_the_others_are_extended() {
        engine.acquire(LockRequest.of(hung).ttl(TIMEOUT.multipliedBy(3)));
        freezeMaster();
        eventually().until(() -> extending.contains(hung));
        List<LockHandle> held = others.stream()
                .map(key -> engine.acquire(LockRequest.of(key).ttl(Duration.ofSeconds(3))))
                .toList();

        eventually().until(() -> failed.contains(LockOperation.EXTEND + " " + hung));

        assertThat(lost).isEmpty();
        assertThat(held).allMatch(LockHandle::release);
    }

    @Test
    void waiters_of_the_others_leave_their_queues() throws InterruptedException {
        LockHandle stuck = engine.acquire(LockRequest.of(hung).ttl(Duration.ofMinutes(1)));
        String key = others.get(0);
        engine.acquire(LockRequest.of(key));
        Thread waiter = new Thread(() ->
                assertThatThrownBy(() -> engine.acquire(LockRequest.of(key).waitTime(Duration.ofMinutes(1)))));
        waiter.start();
        eventually().until(() -> engine.admin().status(key).orElseThrow().waiters() == 1);
        freezeMaster();
        stuck.release();

        waiter.interrupt();
        waiter.join();

        Awaitility.await()
                .atMost(TIMEOUT.dividedBy(2))
                .until(() -> engine.admin().status(key).orElseThrow().waiters() == 0);
    }

    private void freezeMaster() {
        OwnRedis master = cluster.nodeWith(prefixOf(hung));
        assertThat(others).noneMatch(key -> cluster.serves(master, prefixOf(key)));
        thaw = master.freeze();
    }

    private static String prefixOf(String key) {
        return shardOf(key).prefix();
    }

    private static Stream<String> keys(int shard) {
        return IntStream.range(0, 1000)
                .mapToObj(i -> "order:" + i)
                .filter(key -> shardOf(key).number() == shard);
    }

    private static RedisShard shardOf(String key) {
        return SETTINGS.spread().ofName(SETTINGS.keys().name(key));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20));
    }
}
