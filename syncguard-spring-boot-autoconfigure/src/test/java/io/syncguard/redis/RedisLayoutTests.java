package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.AcquireRequests;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Another number of shards under the same prefix is detected before it does harm. */
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
            assertThat(redis.opsForHash().entries(prefix + "layout")).hasToString("{shards=4}");
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

    /** The server may have been unavailable at the start. */
    @Test
    void no_lock_operation_is_sent_before_the_number_was_compared() {
        redis.opsForHash().put(prefix + "layout", "shards", "4");
        try (RedisLockBackend backend = open(1)) {
            assertThatExceptionOfType(RequestNotSentException.class)
                    .isThrownBy(() -> backend.acquire(
                            AcquireRequests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test")))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            assertThat(redis.keys(prefix + "*")).containsExactly(prefix + "layout");

            redis.delete(prefix + "layout");

            assertThat(backend.acquire(
                            AcquireRequests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test")))
                    .isInstanceOf(AcquireResult.Granted.class);
        }
    }

    private RedisLockBackend open(int shards) {
        return new RedisLockBackend(
                connections,
                new RedisSettings(prefix, Duration.ofSeconds(5), RedisSettings.WAITER_TTL, shards, RedisBatching.AUTO));
    }
}
