package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A server that loses its data under running processes: by the clock, no fence of a key is given twice or smaller than
 * one before; from counters, fences begin again. {@link RedisFailoverTests} has the failover that loses the last
 * grants.
 */
class RedisForgottenFencesTests {

    private static final Duration TTL = Duration.ofMinutes(10);

    private static final List<String> KEYS = List.of("order:42", "order:43");

    private final AtomicInteger lockIds = new AtomicInteger();

    @ParameterizedTest
    @EnumSource
    void a_server_that_is_flushed(FenceSource fences) {
        try (OwnRedis redis = new OwnRedis()) {
            assertAfterLoss(fences, redis, () -> redis.commands().flushall());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_server_that_is_restarted_without_persistence(FenceSource fences) {
        try (OwnRedis redis = new OwnRedis()) {
            assertAfterLoss(fences, redis, () -> {
                redis.stop();
                redis.start();
            });
        }
    }

    private void assertAfterLoss(FenceSource source, OwnRedis redis, Runnable loss) {
        try (StoreCalls here = open(redis, source);
                StoreCalls there = open(redis, source)) {
            List<List<Long>> before =
                    KEYS.stream().map(key -> draw(key, here, there)).toList();
            loss.run();
            Awaitility.await().ignoreExceptions().until(() -> !here.isLocked("any") && !there.isLocked("any"));

            for (int i = 0; i < KEYS.size(); i++) {
                List<Long> all = new ArrayList<>(before.get(i));
                all.addAll(draw(KEYS.get(i), here, there));
                if (source == FenceSource.CLOCK) {
                    assertThat(all).isSorted().doesNotHaveDuplicates();
                } else {
                    assertThat(all).containsExactly(1L, 2L, 3L, 4L, 5L, 1L, 2L, 3L, 4L, 5L);
                }
            }
        }
    }

    /** Fences of all kinds, in the order in which they are drawn. Nothing holds the key before and after. */
    private List<Long> draw(String key, StoreCalls here, StoreCalls there) {
        AcquireRequest holder = request(key, LockMode.EXCLUSIVE);
        AcquireRequest waiter = request(key, LockMode.EXCLUSIVE).waitingAs(1);
        List<Long> fences = new ArrayList<>();
        fences.add(granted(here.acquire(holder)));
        fences.add(rotated(here.rotate(Requests.extension(holder.lockId(), TTL))));
        assertThat(there.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);
        here.release(holder.lockId());
        fences.add(granted(there.acquire(waiter.fromQueue())));
        there.release(waiter.lockId());
        for (StoreCalls process : List.of(here, there)) {
            AcquireRequest reader = request(key, LockMode.SHARED);
            fences.add(granted(process.acquire(reader)));
            process.release(reader.lockId());
        }
        return fences;
    }

    private AcquireRequest request(String key, LockMode mode) {
        String lockId = String.format(Locale.ROOT, "%022d", lockIds.incrementAndGet());
        return mode == LockMode.SHARED
                ? Requests.shared(key, lockId, TTL, "test")
                : Requests.exclusive(key, lockId, TTL, "test");
    }

    private static long granted(AcquireResult result) {
        assertThat(result).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) result).fence().value();
    }

    private static long rotated(ExtendResult result) {
        assertThat(result).isInstanceOf(ExtendResult.Rotated.class);
        return ((ExtendResult.Rotated) result).fence().value();
    }

    private static StoreCalls open(OwnRedis redis, FenceSource fences) {
        return new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        Duration.ofSeconds(5),
                        RedisSettings.WAITER_TTL,
                        1,
                        FenceSettings.from(fences))));
    }
}
