package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A process that stood still for longer than a request may take continues with the answer, which arrived during the
 * pause.
 */
@Tag("verification")
class RedisPausedProcessTests {

    private static final String WAITING = RedisSettings.KEY_PREFIX + "waiting:order:42";

    /** The queue entry is renewed before that, and the answer to that may have arrived until then. */
    private static final long ASKED_IN_VAIN_MILLIS =
            RedisSettings.WAITER_TTL.toMillis() - 2 * RedisSettings.WAITER_TTL.toMillis() / 3 - 150;

    private final OwnRedis redis = new OwnRedis();
    private final ChildJvm child = ChildJvm.start(QueueProcess.class, redis.url());
    private final StoreCalls backend = new StoreCalls(new RedisLockBackend(
            RedisServer.connections(redis.url()),
            new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(20), RedisSettings.WAITER_TTL)));

    @AfterEach
    void close() {
        child.close();
        backend.close();
        redis.close();
    }

    @Test
    void who_waits_in_it_waits_on() {
        String holder = "A".repeat(22);
        backend.acquire(Requests.exclusive("order:42", holder, Duration.ofMinutes(1), "test"));
        child.ask("queue waiter order:42 exclusive");
        eventually().until(() -> redis.commands().zcard(WAITING) == 1);
        // From now on the renewals depend on the clock alone.
        eventually().until(() -> millisLeft() < RedisSettings.WAITER_TTL.toMillis() - 1000);

        redis.pauseWrites();
        eventually().until(() -> redis.commands().info("clients").contains("blocked_clients:1\r\n"));
        child.pause();
        eventually().until(() -> millisLeft() < ASKED_IN_VAIN_MILLIS);
        redis.goOn();
        eventually().until(() -> redis.commands().info("clients").contains("blocked_clients:0\r\n"));
        child.resume();

        assertThat(backend.release(holder)).isEqualTo(ReleaseResult.RELEASED);
        eventually().until(() -> child.ask("held").startsWith("waiter="));
    }

    /** Returns the time until the queue entry lapses. */
    private long millisLeft() {
        long expiry =
                (long) redis.commands().zrangeWithScores(WAITING, 0, 0).get(0).getScore();
        List<String> now = redis.commands().time();
        return expiry - Long.parseLong(now.get(0)) * 1000 - Long.parseLong(now.get(1)) / 1000;
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }
}
