package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireResult;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Applications with different prefixes have different locks. */
class RedisPrefixTests {

    /** Each of them begins with keys of an application whose prefix is shorter, or has no number in its hash tag. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{a}:lock",
                "{a}:lock:",
                "{a}:lock::",
                "{a}:readers:",
                "{a}:shared:",
                "{a}:queue:",
                "{a}:waiting:",
                "{a}:waiters:",
                "{a}:id:",
                "{a}:fence:orders:",
                "{a}:layout",
                "{a}:orders:wake:",
                "lock:",
                "fence:orders",
                "{a#1}:",
                "orders:{a#17}",
                "{a#1#2}:orders",
            })
    void a_prefix_of_keys_of_another_one_is_refused(String prefix) {
        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(() -> settings(prefix))
                .withMessageContaining("syncguard.redis.key-prefix is '" + prefix.replaceFirst(":+$", ""))
                .withMessageContaining("would share these locks")
                .withMessageContaining("Choose another")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "{lock}:",
                "{a}:locks:",
                "{a}:Lock:",
                "{a}lock:",
                "{a}:lock-orders:",
                "{a#b}:",
                "{#}:",
                "{a}#1:",
                "a#1:",
                "{a}:{b#1}:",
            })
    void other_prefixes_are_not(String prefix) {
        assertThatCode(() -> settings(prefix)).doesNotThrowAnyException();
    }

    /** The key of one looks like the prefix and the key of the other. */
    @Test
    void prefixes_that_begin_with_each_other_share_no_lock() {
        String shorter = RedisServer.newPrefix();
        LettuceConnectionFactory connections = RedisServer.connections(RedisServer.url());
        connections.afterPropertiesSet();
        try (StoreCalls one = new StoreCalls(new RedisLockBackend(connections, settings(shorter)));
                StoreCalls two = new StoreCalls(new RedisLockBackend(connections, settings(shorter + ":orders")))) {
            for (String key : List.of("orders:lock:k", "lock:orders:lock:k", "k")) {
                assertGranted(one, key);
            }
            assertGranted(two, "k");
        } finally {
            connections.destroy();
        }
    }

    private static void assertGranted(StoreCalls backend, String key) {
        assertThat(backend.acquire(Requests.exclusive(
                        key, UUID.randomUUID().toString().substring(0, 22), Duration.ofMinutes(1), "test")))
                .isInstanceOf(AcquireResult.Granted.class);
    }

    private static RedisSettings settings(String prefix) {
        return new RedisSettings(prefix, Duration.ofSeconds(5), RedisSettings.WAITER_TTL);
    }
}
