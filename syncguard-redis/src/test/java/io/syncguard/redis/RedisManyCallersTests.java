package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Many threads on the one connection that an application gives its locks. */
@Tag("verification")
class RedisManyCallersTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final Duration NEVER = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void hundreds_of_threads_share_one_connection() throws Exception {
        try (OwnRedis redis = new OwnRedis();
                StoreCalls backend =
                        open(RedisServer.connections(redis.url()), 1, Duration.ofSeconds(10), RedisBatching.AUTO)) {
            List<Future<Long>> callers = startAll(500, caller -> slowestOf(4, backend, "key-" + caller));

            assertThat(all(callers)).hasSize(500);
            assertThat(redis.commands().clientList().lines())
                    .as("that connection, and the one that asks this")
                    .hasSize(2);
        }
    }

    /** The server runs one script after the other. */
    @ParameterizedTest
    @EnumSource(
            value = RedisBatching.class,
            names = {"AUTO", "ALWAYS"})
    void a_slow_script_holds_up_others_no_longer_than_it_runs(RedisBatching batching) throws Exception {
        try (OwnRedis redis = new OwnRedis();
                StoreCalls backend = open(RedisServer.connections(redis.url()), 1, NEVER, batching)) {
            slowestOf(1, backend, "known");
            List<Future<Long>> callers = startAll(40, caller -> slowestOf(100, backend, "key-" + caller));

            long began = System.nanoTime();
            redis.commands().eval("for i = 1, 100000000 do end", ScriptOutputType.STATUS);
            Duration slow = Duration.ofNanos(System.nanoTime() - began);

            assertThat(Duration.ofNanos(Collections.max(all(callers))))
                    .as("a lost answer would have held one up until the end of the test")
                    .isLessThan(slow.plusSeconds(10));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = RedisBatching.class,
            names = {"AUTO", "ALWAYS"})
    void a_master_that_stands_still_holds_up_no_key_of_the_others(RedisBatching batching) throws Exception {
        try (OwnRedisCluster cluster = new OwnRedisCluster();
                StoreCalls backend = open(cluster.connections(), 4, NEVER, batching)) {
            OwnRedis silent = cluster.nodes().get(0);
            List<String> stuckKeys = keys(cluster, silent, true);
            List<String> otherKeys = keys(cluster, silent, false);
            Stream.concat(stuckKeys.stream(), otherKeys.stream()).forEach(key -> slowestOf(1, backend, key));

            List<Future<AcquireResult>> stuck;
            Runnable goOn = silent.freeze();
            try {
                stuck = startAll(40, caller -> acquire(backend, stuckKeys.get(caller)));
                List<Future<Long>> others = startAll(40, caller -> slowestOf(20, backend, otherKeys.get(caller)));

                assertThat(Duration.ofNanos(Collections.max(all(others))))
                        .as("the master that stands still would have held it up until the end of the test")
                        .isLessThan(Duration.ofSeconds(10));
                assertThat(stuck).noneMatch(Future::isDone);
            } finally {
                goOn.run();
            }
            assertThat(all(stuck)).hasOnlyElementsOfType(AcquireResult.Granted.class);
        }
    }

    private static StoreCalls open(
            LettuceConnectionFactory connections, int shards, Duration timeout, RedisBatching batching) {
        return batching.backend(
                connections,
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        timeout,
                        RedisSettings.WAITER_TTL,
                        shards,
                        FenceSettings.from(FenceSource.CLOCK)));
    }

    /** Forty keys that this node has, or has not. */
    private static List<String> keys(OwnRedisCluster cluster, OwnRedis node, boolean has) {
        RedisShards shards = new RedisShards(RedisSettings.KEY_PREFIX, 4);
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "key-" + i)
                .filter(key -> cluster.serves(node, shards.ofName(key).prefix()) == has)
                .limit(40)
                .toList();
    }

    /** Acquires and releases a key so many times. Returns the longest time of a pair, in nanoseconds. */
    private static long slowestOf(int pairs, StoreCalls backend, String key) {
        long slowest = 0;
        for (int i = 0; i < pairs; i++) {
            long began = System.nanoTime();
            assertThat(acquire(backend, key)).isInstanceOf(AcquireResult.Granted.class);
            assertThat(backend.release(lockId(backend, key))).isEqualTo(ReleaseResult.RELEASED);
            slowest = Math.max(slowest, System.nanoTime() - began);
        }
        return slowest;
    }

    private static AcquireResult acquire(StoreCalls backend, String key) {
        return backend.acquire(Requests.exclusive(key, lockId(backend, key), TTL, "test"));
    }

    /** The same for each lease of a key: they follow one another. */
    private static String lockId(StoreCalls backend, String key) {
        return backend.lockIdFor(key, "_".repeat(22 - key.length()) + key);
    }

    private interface Caller<T> {
        T call(int number);
    }

    private <T> List<Future<T>> startAll(int count, Caller<T> caller) {
        return IntStream.range(0, count)
                .mapToObj(number -> threads.submit((Callable<T>) () -> caller.call(number)))
                .toList();
    }

    private static <T> List<T> all(List<Future<T>> futures) throws Exception {
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get(NEVER.toSeconds(), TimeUnit.SECONDS));
        }
        return results;
    }
}
