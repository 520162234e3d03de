package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lists on a server with many other keys, asked for by many at the same time. */
@Timeout(120)
@Tag("verification")
class RedisListLoadTests {

    private static final int OTHER_KEYS = 100_000;

    private static final int READERS = 16;

    private static final Pattern SCANS = Pattern.compile("cmdstat_scan:calls=(\\d+)");

    private static OwnRedis redis;
    private static StoreCalls backend;
    private static ExecutorService threads;

    @BeforeAll
    static void fill() {
        redis = new OwnRedis();
        redis.commands()
                .eval(
                        "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'other:' .. i, i) end",
                        ScriptOutputType.STATUS,
                        new String[0],
                        String.valueOf(OTHER_KEYS));
        backend = new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), RedisSettings.WAITER_TTL)));
        backend.acquire(Requests.exclusive("order:1", "A".repeat(22), Duration.ofMinutes(10), "test"));
        threads = Executors.newFixedThreadPool(READERS);
    }

    @AfterAll
    static void close() {
        threads.shutdownNow();
        backend.close();
        redis.close();
    }

    @Test
    void readers_at_the_same_time_share_scans() throws Exception {
        long before = scans();
        assertThat(keys()).containsExactly("order:1");
        long one = scans() - before;

        CyclicBarrier together = new CyclicBarrier(READERS);
        List<Future<List<String>>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            readers.add(threads.submit(() -> {
                together.await();
                return keys();
            }));
        }
        for (Future<List<String>> reader : readers) {
            assertThat(reader.get()).containsExactly("order:1");
        }

        // The first reader scans, and the second one for all who asked while it did.
        assertThat(scans() - before - one).isLessThan(5 * one / 2);
    }

    @Test
    void steps_are_small() {
        long before = scans();
        keys();

        assertThat(scans() - before).isGreaterThan(OTHER_KEYS / 1000);
    }

    @Test
    void many_shards_of_a_server_need_no_more_steps_than_one() {
        try (StoreCalls sharded = new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(
                        "{sharded}:",
                        Duration.ofSeconds(5),
                        RedisSettings.WAITER_TTL,
                        16,
                        FenceSettings.from(FenceSource.CLOCK))))) {
            for (int i = 0; i < 50; i++) {
                String key = "order:" + i;
                sharded.acquire(Requests.exclusive(
                        key, sharded.lockIdFor(key, "A".repeat(20) + (10 + i)), Duration.ofMinutes(10), "test"));
            }
            long before = scans();
            assertThat(sharded.list(LockQuery.all()).locks()).hasSize(50);

            assertThat(scans() - before).isLessThan(OTHER_KEYS / 400);
        }
    }

    @Test
    void a_further_page_needs_no_scan_of_its_own() {
        keys();
        long before = scans();

        assertThat(backend.list(LockQuery.all().after("order:")).locks())
                .extracting(LockStatus::key)
                .containsExactly("order:1");
        assertThat(scans()).isEqualTo(before);
    }

    private static List<String> keys() {
        return backend.list(LockQuery.all()).locks().stream()
                .map(LockStatus::key)
                .toList();
    }

    private static long scans() {
        Matcher calls = SCANS.matcher(redis.commands().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }
}
