package io.syncguard.redis;

import static io.syncguard.LockErrorCode.NETWORK_TIMEOUT;
import static io.syncguard.LockErrorCode.SERVICE_UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection on which the server is silent is ended, and nothing that was sent on it takes effect later. */
class RedisSilenceTests {

    private static final Duration TIMEOUT = Duration.ofMillis(500);
    private static final EngineSettings SETTINGS = new EngineSettings(
            "test",
            Duration.ofMinutes(10),
            Duration.ZERO,
            Duration.ofHours(1),
            Duration.ofHours(1),
            Duration.ZERO,
            Duration.ZERO,
            Map.of());

    private static OwnRedis redis;

    private final RedisProxy proxy = new RedisProxy(redis.url());
    private final LockEngine engine = new LockEngine(
            batching()
                    .backend(
                            RedisServer.connections(proxy.url()),
                            new RedisSettings(
                                    RedisSettings.KEY_PREFIX,
                                    TIMEOUT,
                                    RedisSettings.WAITER_TTL,
                                    1,
                                    FenceSettings.from(FenceSource.COUNTER))),
            SETTINGS,
            TransactionBoundary.NONE,
            List.of());

    RedisBatching batching() {
        return RedisBatching.AUTO;
    }

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @BeforeEach
    void connect() {
        redis.commands().flushall();
        // From here on the server knows both scripts, and answers once.
        eventually()
                .ignoreExceptions()
                .until(() -> engine.acquire(LockRequest.of("first")).release());
    }

    @AfterEach
    void close() {
        engine.close();
        proxy.close();
    }

    @Test
    void operations_go_on_over_a_new_connection_when_the_way_was_lost() {
        try (CapturedLog log = new CapturedLog()) {
            proxy.loseWays();
            assertFails(NETWORK_TIMEOUT, "order:42");

            awaitService();
            assertThat(log.messages())
                    .filteredOn(each -> each.contains("Redis is silent on a connection"))
                    .hasSize(1);
        }
    }

    /**
     * The system still has data of the old connection to send. It must not arrive after what is sent on the new one.
     */
    @Test
    void the_silent_connection_is_reset_and_not_closed() {
        proxy.loseWays();
        assertFails(NETWORK_TIMEOUT, "order:42");

        awaitService();
        eventually().untilAsserted(() -> assertThat(proxy.resets()).isEqualTo(1));
    }

    @Test
    void operations_go_on_over_a_new_connection_when_the_answers_alone_are_lost() {
        proxy.loseWaysBack();
        assertFails(NETWORK_TIMEOUT, "order:42");

        awaitService();
        assertNothingIsHeld("order:42");
    }

    @Test
    void a_lock_that_was_granted_into_the_silence_is_released_over_the_new_connection() {
        proxy.loseWaysAtNextAnswer();
        assertFails(NETWORK_TIMEOUT, "order:42");

        assertNothingIsHeld("order:42");
    }

    @Test
    void a_server_that_stood_still_grants_nothing_that_stays_when_it_goes_on() {
        assertNothingStaysAfter(redis.freeze());

        assertNothingIsHeld("order:42");
    }

    @Test
    void a_server_that_lets_writes_wait_grants_nothing_that_stays_when_it_goes_on() {
        redis.pauseWrites();

        assertNothingStaysAfter(redis::goOn);
    }

    /** @param goOn ends the silence of the server */
    private void assertNothingStaysAfter(Runnable goOn) {
        try {
            assertFails(NETWORK_TIMEOUT, "order:42");
            // This request is still sent on the old connection. Its release is sent on the new one.
            codeOf("order:43");
            eventually().until(() -> codeOf("order:44") == SERVICE_UNAVAILABLE);
        } finally {
            goOn.run();
        }

        awaitService();
        eventually()
                .untilAsserted(() ->
                        assertThat(redis.commands().keys("{syncguard}:lock:*")).isEmpty());
    }

    private static void assertNothingIsHeld(String key) {
        eventually().untilAsserted(() -> {
            assertThat(redis.commands().get("{syncguard}:fence:" + key)).isEqualTo("1");
            assertThat(redis.commands().exists("{syncguard}:lock:" + key)).isZero();
        });
    }

    private void assertFails(LockErrorCode code, String key) {
        assertThat(codeOf(key)).isEqualTo(code);
    }

    private LockErrorCode codeOf(String key) {
        return catchThrowableOfType(LockException.class, () -> engine.acquire(LockRequest.of(key)))
                .code();
    }

    private void awaitService() {
        eventually().ignoreExceptions().until(() -> !engine.isLocked("order:1"));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }
}
