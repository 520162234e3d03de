package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Another number of shards, or another source of fences, under the same prefix is detected before it does harm. */
class RedisLayoutTests {

    private static LettuceConnectionFactory connections;
    private static StringRedisTemplate redis;

    private final String prefix = RedisServer.newPrefix() + ":";

    @BeforeAll
    static void connect() {
        connections = RedisServer.connections(RedisServer.url());
        connections.afterPropertiesSet();
        redis = new StringRedisTemplate(connections);
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Test
    void the_first_process_stores_the_number_of_shards_and_others_agree() {
        try (RedisLockBackend first = open(4);
                RedisLockBackend second = open(4)) {
            first.checkServer();

            assertThatCode(second::checkServer).doesNotThrowAnyException();
            assertThat(redis.opsForHash().entries(prefix + "layout"))
                    .containsOnly(Map.entry("version", "2"), Map.entry("shards", "4"), Map.entry("fences", "clock"));
            assertThat(redis.getExpire(prefix + "layout")).isEqualTo(-1);
        }
    }

    @Test
    void another_number_is_refused_at_the_start_with_what_to_do() {
        assertRefused(1, 4);
        redis.delete(prefix + "layout");
        assertRefused(4, 1);
        redis.delete(prefix + "layout");
        assertRefused(4, 8);
    }

    private void assertRefused(int stored, int configured) {
        try (RedisLockBackend first = open(stored);
                RedisLockBackend second = open(configured)) {
            first.checkServer();

            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(second::checkServer)
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .withMessageContaining("syncguard.redis.shards is " + configured)
                    .withMessageContaining("are spread over " + stored + " shard(s)")
                    .withMessageContaining("Set syncguard.redis.shards=" + stored)
                    .withMessageContaining("another syncguard.redis.key-prefix");
        }
    }

    @Test
    void fences_may_change_from_counters_to_the_clock_and_not_back() {
        try (RedisLockBackend counter = open(1, FenceSource.COUNTER);
                RedisLockBackend clock = open(1, FenceSource.CLOCK);
                RedisLockBackend later = open(1, FenceSource.COUNTER)) {
            counter.checkServer();
            assertThat(storedFences()).isEqualTo("counter");
            clock.checkServer();
            assertThat(storedFences()).isEqualTo("clock");

            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(later::checkServer)
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .withMessageContaining("syncguard.fences is counter")
                    .withMessageContaining("come from the clock")
                    .withMessageContaining("would begin at 1 again")
                    .withMessageContaining("Set syncguard.fences=clock");
            assertThat(storedFences()).isEqualTo("clock");
        }
    }

    @Test
    void a_process_that_is_refused_because_of_its_shards_does_not_change_the_source_of_the_fences() {
        try (RedisLockBackend first = open(4, FenceSource.COUNTER);
                RedisLockBackend refused = open(1, FenceSource.CLOCK)) {
            first.checkServer();

            assertThatExceptionOfType(LockBackendException.class).isThrownBy(refused::checkServer);

            assertThat(storedFences()).isEqualTo("counter");
        }
    }

    /** During an upgrade, processes with counters run beside those with the clock. */
    @Test
    void a_counter_that_a_process_with_counters_uses_goes_on_and_does_not_expire() {
        try (RedisLockBackend counter = open(1, FenceSource.COUNTER);
                RedisLockBackend clock = open(1, FenceSource.CLOCK)) {
            assertThat(fence(counter, "A")).isEqualTo(1);
            long byTheClock = fence(clock, "B");
            assertThat(byTheClock).isGreaterThan(10_000_000_000_000L);
            assertThat(redis.getExpire(prefix + "fence:order:42")).isPositive();

            assertThat(fence(counter, "C")).isEqualTo(byTheClock + 1);

            assertThat(redis.getExpire(prefix + "fence:order:42")).isEqualTo(-1);
        }
    }

    private Object storedFences() {
        return redis.opsForHash().get(prefix + "layout", "fences");
    }

    /** The fence of a grant that is released at once. */
    private static long fence(RedisLockBackend backend, String letter) {
        AcquireRequest request = Requests.exclusive("order:42", letter.repeat(22), Duration.ofMinutes(1), "test");
        StoreCalls calls = new StoreCalls(backend);
        AcquireResult result = calls.acquire(request);
        assertThat(result).isInstanceOf(AcquireResult.Granted.class);
        calls.release(request.lockId());
        return ((AcquireResult.Granted) result).fence().value();
    }

    /** The first layout had no version. */
    @ParameterizedTest
    @CsvSource({", 1", "1, 1", "3, 3"})
    void keys_of_another_layout_are_refused_at_the_start_with_what_to_do(@Nullable String stored, String shown) {
        redis.opsForHash().putAll(prefix + "layout", Map.of("shards", "1", "fences", "counter"));
        if (stored != null) {
            redis.opsForHash().put(prefix + "layout", "version", stored);
        }
        Map<Object, Object> before = redis.opsForHash().entries(prefix + "layout");
        try (RedisLockBackend backend = open(1)) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(backend::checkServer)
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .withMessageContaining("have layout " + shown)
                    .withMessageContaining("this version has layout 2")
                    .withMessageContaining("another syncguard.redis.key-prefix");

            assertThat(redis.opsForHash().entries(prefix + "layout")).isEqualTo(before);
            assertThat(redis.keys(prefix + "*")).containsExactly(prefix + "layout");
        }
    }

    /** The server may have been unavailable at the start. */
    @Test
    void no_lock_operation_is_sent_before_the_number_was_compared() {
        redis.opsForHash().putAll(prefix + "layout", Map.of("version", RedisLayout.VERSION, "shards", "4"));
        try (RedisLockBackend backend = open(1)) {
            assertThatExceptionOfType(RequestNotSentException.class)
                    .isThrownBy(() -> new StoreCalls(backend)
                            .acquire(Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test")))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            assertThat(redis.keys(prefix + "*")).containsExactly(prefix + "layout");

            redis.delete(prefix + "layout");

            assertThat(new StoreCalls(backend)
                            .acquire(Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test")))
                    .isInstanceOf(AcquireResult.Granted.class);
        }
    }

    private RedisLockBackend open(int shards) {
        return open(shards, FenceSource.CLOCK);
    }

    private RedisLockBackend open(int shards, FenceSource fences) {
        return new RedisLockBackend(
                connections,
                new RedisSettings(
                        prefix, Duration.ofSeconds(5), RedisSettings.WAITER_TTL, shards, FenceSettings.from(fences)));
    }
}
