package io.syncguard.redis;

import static io.syncguard.LockMode.EXCLUSIVE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The connection on which wake-ups arrive: when it is opened, lost and opened again. */
class RedisWakeUpsTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final OwnRedis redis = new OwnRedis();
    private final AcquireRequest holder = Requests.exclusive("order:42", "A".repeat(22), TTL, "test");
    private final AcquireRequest waiter =
            Requests.of("order:42", EXCLUSIVE, 0, "B".repeat(22), TTL, "test", false, false, 7L);
    private final RecordingWakeUpListener received = new RecordingWakeUpListener();
    private StoreCalls backend;

    @BeforeEach
    void connect() {
        backend = open(redis.url());
    }

    @AfterEach
    void close() {
        backend.close();
        redis.close();
    }

    @Test
    void there_is_no_connection_before_a_caller_waits() {
        backend.acquire(holder);
        backend.release(holder.lockId());

        assertThat(backend.isConnected()).isFalse();
        assertThat(redis.commands().pubsubChannels()).isEmpty();
    }

    @Test
    void the_first_waiter_opens_a_connection_and_all_waiters_look_when_it_listens() {
        backend.acquire(holder);

        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);

        eventually().until(backend::isConnected);
        eventually().untilAsserted(() -> assertThat(received.looks).hasValue(1));
        assertThat(redis.commands().pubsubChannels()).hasSize(1).allMatch(each -> each.startsWith("{syncguard}:wake:"));
    }

    @Test
    void a_lost_connection_is_opened_again_and_all_waiters_look_before_and_after() {
        listen();

        redis.commands().clientKill(KillArgs.Builder.typePubsub());

        eventually().untilAsserted(() -> assertThat(received.looks).hasValue(3));
        eventually().until(backend::isConnected);
        backend.release(holder.lockId());
        eventually().untilAsserted(() -> assertThat(received.woken).containsExactly(7L));
    }

    @Test
    void a_server_that_was_away_is_listened_to_again() {
        listen();
        redis.stop();
        eventually().until(() -> !backend.isConnected());

        redis.start();

        eventually().until(backend::isConnected);
    }

    @Test
    void a_user_who_may_not_listen_gets_one_warning_and_polls() {
        redis.commands()
                .aclSetuser(
                        "no-channels",
                        AclSetuserArgs.Builder.on()
                                .addPassword("right")
                                .allKeys()
                                .resetChannels()
                                .allCommands());
        try (CapturedLog log = new CapturedLog();
                StoreCalls withoutChannels = open(redis.url("no-channels", "right"))) {
            withoutChannels.acquire(holder);

            assertThat(withoutChannels.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);

            eventually()
                    .untilAsserted(() -> assertThat(log.messages())
                            .singleElement()
                            .asString()
                            .contains("Wake-ups from Redis do not arrive"));
            assertThat(withoutChannels.isConnected()).isFalse();
            withoutChannels.release(holder.lockId());
            assertThat(withoutChannels.renewWaiters(List.of(waiter.keyedLockId())))
                    .containsExactly(Duration.ZERO);
        }
    }

    @Test
    void nothing_is_left_of_it_when_it_is_closed() {
        listen();

        backend.close();

        eventually()
                .untilAsserted(
                        () -> assertThat(redis.commands().pubsubChannels()).isEmpty());
        assertThat(redis.commands().clientList().lines()).hasSize(1);
    }

    private void listen() {
        backend.acquire(holder);
        backend.acquire(waiter);
        eventually().until(backend::isConnected);
        eventually().untilAsserted(() -> assertThat(received.looks).hasValue(1));
    }

    private StoreCalls open(String url) {
        StoreCalls another = new StoreCalls(new RedisLockBackend(
                RedisServer.connections(url),
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), Duration.ofMinutes(1))));
        another.connect(received);
        return another;
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }

    /** Records the woken waiters, and counts the looks. */
    private static final class RecordingWakeUpListener implements WakeUpListener {

        private final List<Long> woken = new CopyOnWriteArrayList<>();
        private final AtomicInteger looks = new AtomicInteger();

        @Override
        public void wake(long waiter) {
            woken.add(waiter);
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {
            looks.incrementAndGet();
        }
    }
}
