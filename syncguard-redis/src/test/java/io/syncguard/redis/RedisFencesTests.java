package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A fence counter that begins again is reported by a process that has seen a larger fence, and by no other. */
class RedisFencesTests {

    private static final WakeUpListener IGNORES_ALL = new WakeUpListener() {
        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    };

    private final AcquireRequest first = request("A");
    private final AcquireRequest second = request("B");
    private final RedisFenceMonitor fences = new RedisFenceMonitor();

    @Test
    void a_server_that_comes_back_empty_is_reported_by_the_former_holder() {
        try (OwnRedis redis = new OwnRedis();
                StoreCalls before = open(redis);
                StoreCalls never = open(redis);
                CapturedLog log = new CapturedLog()) {
            before.acquire(first);
            before.release(first.lockId());
            before.acquire(second);
            redis.stop();
            redis.start();

            Awaitility.await().ignoreExceptions().until(() -> !never.isLocked("order:42"));
            assertThat(never.acquire(first)).isInstanceOf(AcquireResult.Granted.class);
            never.release(first.lockId());
            assertThat(errors(log)).isEmpty();

            Awaitility.await().ignoreExceptions().until(() -> !before.isLocked("order:42"));
            assertThat(before.acquire(second)).isInstanceOf(AcquireResult.Granted.class);
            assertThat(errors(log))
                    .singleElement()
                    .asString()
                    .contains("lock 'order:42' has begun again: granted 2 after 2")
                    .doesNotContain(second.lockId());
            before.release(second.lockId());
            before.acquire(request("C"));
            assertThat(errors(log)).as("once").hasSize(1);
        }
    }

    /** The messages of the hand-overs are lost, and the waiters ask in another order. */
    @Test
    void leases_that_are_found_after_a_hand_over_are_no_loss() {
        try (OwnRedis redis = new OwnRedis();
                StoreCalls elsewhere = open(redis);
                StoreCalls backend = open(redis);
                CapturedLog log = new CapturedLog()) {
            backend.connect(IGNORES_ALL);
            elsewhere.acquire(first);
            List<AcquireRequest> waiters =
                    Stream.of(1L, 2L, 3L).map(RedisFencesTests::waiting).toList();
            waiters.forEach(backend::acquire);
            elsewhere.release(first.keyedLockId());

            for (int i : new int[] {2, 0, 1}) {
                assertThat(backend.acquire(waiters.get(i)))
                        .isInstanceOfSatisfying(
                                AcquireResult.Granted.class,
                                grant -> assertThat(grant.fence()).isEqualTo(new Fence(i + 2)));
            }
            assertThat(errors(log)).isEmpty();
        }
    }

    @Test
    void answers_that_overtake_each_other_are_no_loss() {
        try (CapturedLog log = new CapturedLog()) {
            long known = fences.lastFence("order:42");
            fences.granted("order:42", new Fence(8), known);
            fences.granted("order:42", new Fence(7), known);

            assertThat(fences.lastFence("order:42")).isEqualTo(8);
            assertThat(errors(log)).isEmpty();
        }
    }

    @Test
    void no_more_keys_are_remembered_than_those_used_last() {
        fences.granted("first", new Fence(5), 0);
        fences.granted("second", new Fence(6), 0);
        IntStream.range(0, 9_999).forEach(i -> {
            fences.lastFence("first");
            fences.granted("key:" + i, new Fence(1), 0);
        });

        assertThat(fences.lastFence("first")).isEqualTo(5);
        assertThat(fences.lastFence("second")).isZero();
    }

    /** Accepts a hand-over. */
    private static AcquireRequest waiting(long waiter) {
        return Requests.of(
                "order:42",
                LockMode.SHARED,
                3,
                String.valueOf(waiter).repeat(22),
                Duration.ofMinutes(10),
                "test",
                true,
                false,
                waiter);
    }

    private static List<String> errors(CapturedLog log) {
        return log.messages().stream()
                .filter(message -> message.contains("has begun again"))
                .toList();
    }

    private static AcquireRequest request(String letter) {
        return Requests.exclusive("order:42", letter.repeat(22), Duration.ofMinutes(10), "test");
    }

    private static StoreCalls open(OwnRedis redis) {
        return new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        Duration.ofSeconds(5),
                        RedisSettings.WAITER_TTL,
                        1,
                        FenceSettings.from(FenceSource.COUNTER))));
    }
}
