package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.core.AcquireRequests;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
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
    void a_script_that_the_server_does_not_know_gets_the_time_that_is_left() {
        RedisSettings settings = new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL);
        try (LockBackend backend = new RedisLockBackend(
                new RedisConnections(RedisServer.connections(redis.url()), settings, ""),
                settings,
                new Stepping(TIMEOUT.multipliedBy(3).dividedBy(5)))) {
            assertTimesOut(() -> backend.isLocked("order:42"));

            redis.commands().scriptLoad(RedisScript.named("is_locked").text());
            assertThat(backend.isLocked("order:42")).isFalse();
        }
    }

    @Test
    void who_connects_to_a_silent_server_waits_no_longer_than_an_operation_may_take() {
        AcquireRequest request = AcquireRequests.exclusive("order:42", "A".repeat(22), Duration.ofSeconds(3), "test");
        Runnable thaw = redis.freeze();
        try (LockBackend backend = open()) {
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

    private LockBackend open() {
        return new RedisLockBackend(
                RedisServer.connections(redis.url()),
                new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL));
    }

    /** A clock that advances by a step with each reading. */
    private static final class Stepping implements Time {

        private final Duration step;
        private final AtomicLong now = new AtomicLong();

        Stepping(Duration step) {
            this.step = step;
        }

        @Override
        public long nanoTime() {
            return now.addAndGet(step.toNanos());
        }

        @Override
        public void await(Condition condition, long nanos) throws InterruptedException {
            SYSTEM.await(condition, nanos);
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            SYSTEM.sleep(nanos);
        }
    }
}
