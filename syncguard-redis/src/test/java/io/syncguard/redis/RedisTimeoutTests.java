package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One limit for all steps of an operation: connecting, sending a digest, and sending a text. */
class RedisTimeoutTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final OwnRedis redis = new OwnRedis();

    @AfterEach
    void stop() {
        redis.close();
    }

    @Test
    void who_connects_to_a_silent_server_waits_no_longer_than_an_operation_may_take() {
        AcquireRequest request = Requests.exclusive("order:42", "A".repeat(22), Duration.ofSeconds(3), "test");
        Runnable thaw = redis.freeze();
        try (StoreCalls backend = open()) {
            try {
                long began = System.nanoTime();
                assertTimesOut(() -> backend.acquire(request));
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(TIMEOUT.dividedBy(2));
            } finally {
                thaw.run();
            }

            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> backend.acquire(request) instanceof AcquireResult.Granted);
        }
    }

    private static void assertTimesOut(Runnable call) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(call::run)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
    }

    private StoreCalls open() {
        return new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL)));
    }
}
