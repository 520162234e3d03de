package io.syncguard.redis;

import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Closed connections leave no thread behind, whatever they were doing. Each thread ends long before a timeout would end
 * it.
 */
class RedisCloseTests {

    private static final RedisSettings SETTINGS =
            new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofMinutes(10), RedisSettings.WAITER_TTL);

    private static OwnRedis redis;

    /** The threads that other tests in this JVM left running. */
    private final Set<Thread> threadsBefore = threads();

    private final RedisConnections connections =
            new RedisConnections(RedisServer.connections(redis.url()), SETTINGS, "");
    private final WakeUpSubscriber wakeUps = subscriber("{syncguard}:wake:1", connections);

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @Test
    void closed_while_it_connects_to_a_silent_server() {
        Runnable thaw = redis.freeze();
        try {
            assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(() -> connections.attempt().get(1, TimeUnit.MILLISECONDS));
            wakeUps.start();
            eventually()
                    .until(() -> newThreads().stream()
                                    .filter(thread -> isIn(thread, "io.lettuce."))
                                    .count()
                            == 2);

            close();

            assertNoThreadIsLeft();
        } finally {
            thaw.run();
        }
        assertNothingIsLeft();
    }

    @Test
    void closed_while_it_connects_to_a_server_that_answers() {
        List<RedisConnections> all = IntStream.range(0, 20)
                .mapToObj(i -> new RedisConnections(RedisServer.connections(redis.url()), SETTINGS, ""))
                .toList();
        all.forEach(each -> {
            WakeUpSubscriber listener = subscriber("{syncguard}:wake:2", each);
            assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(() -> each.attempt().get(0, TimeUnit.MILLISECONDS));
            listener.start();

            listener.close();
            each.close();
        });

        close();
        assertNothingIsLeft();
    }

    @Test
    void closed_before_it_connects() {
        close();

        assertFails(connections::subscriber);
        assertFails(() -> connections.attempt().get(60_000, TimeUnit.MILLISECONDS));
        assertNothingIsLeft();
    }

    @Test
    void closed_by_several_at_once_and_once_more() {
        wakeUps.start();
        CompletableFuture<?>[] closing = IntStream.range(0, 4)
                .mapToObj(i -> CompletableFuture.runAsync(this::close, task -> new Thread(task).start()))
                .toArray(CompletableFuture[]::new);

        CompletableFuture.allOf(closing).join();
        close();

        assertNothingIsLeft();
    }

    /** A loop that ends still runs what waits for it, and closes no channel after that. */
    @Test
    void closed_while_the_event_loop_of_a_connection_is_busy() throws Exception {
        RedisDriver driver = new RedisDriver(RedisServer.connections(redis.url()), SETTINGS, "");
        RedisClient client = (RedisClient) driver.factory().getRequiredNativeClient();
        client.connectPubSub().close();
        List<SingleThreadEventExecutor> loops = loopsOf(driver);
        CountDownLatch register = block(loops);
        Thread connecting = new Thread(() -> assertThatThrownBy(client::connectPubSub));
        connecting.start();
        eventually().until(() -> isIn(connecting, "io.lettuce.core.DefaultConnectionFuture"));
        CountDownLatch connect = block(loops);
        register.countDown();
        FutureTask<?> closing = inAnotherThread(() -> {
            driver.close();
            return null;
        });
        eventually().until(() -> loops.stream().allMatch(SingleThreadEventExecutor::isShuttingDown));

        connect.countDown();

        closing.get();
        eventually().until(() -> loops.stream().allMatch(SingleThreadEventExecutor::isTerminated));
        connecting.interrupt();
        close();
        assertNothingIsLeft();
    }

    /** Blocks the loops behind what waits for them, until the latch is counted down. */
    private static CountDownLatch block(List<SingleThreadEventExecutor> loops) {
        CountDownLatch latch = new CountDownLatch(1);
        loops.forEach(loop -> loop.execute(() -> {
            try {
                latch.await();
            } catch (InterruptedException ex) {
                throw new AssertionError(ex);
            }
        }));
        return latch;
    }

    private static List<SingleThreadEventExecutor> loopsOf(RedisDriver driver) {
        EventLoopGroup group = driver.factory()
                .getClientConfiguration()
                .getClientResources()
                .orElseThrow()
                .eventLoopGroupProvider()
                .allocate(Transports.eventLoopGroupClass());
        return StreamSupport.stream(group.spliterator(), false)
                .map(SingleThreadEventExecutor.class::cast)
                .toList();
    }

    private static WakeUpSubscriber subscriber(String channel, RedisConnections connections) {
        RedisScriptRunner scripts = new RedisScriptRunner(connections, SETTINGS, Time.SYSTEM);
        return new WakeUpSubscriber(
                "Redis",
                channel,
                new RedisSubscription(channel, connections, scripts, SETTINGS.spread()),
                new Deaf(),
                Time.SYSTEM);
    }

    private void close() {
        wakeUps.close();
        connections.close();
    }

    private void assertNoThreadIsLeft() {
        eventually().untilAsserted(() -> assertThat(newThreads()).isEmpty());
    }

    private void assertNothingIsLeft() {
        assertNoThreadIsLeft();
        eventually()
                .untilAsserted(
                        () -> assertThat(redis.commands().clientList().lines()).hasSize(1));
    }

    private static void assertFails(ThrowingCallable call) {
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(call)
                .satisfies(ex -> assertThat(RedisErrors.codeOf(ex)).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
    }

    private Set<Thread> newThreads() {
        Set<Thread> threads = threads();
        threads.removeAll(threadsBefore);
        return threads;
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("syncguard-listener")
                        || thread.getName().equals("syncguard-connect"))
                .collect(Collectors.toSet());
    }

    private static boolean isIn(Thread thread, String packagePrefix) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith(packagePrefix));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }

    /** Ignores everything. */
    private static final class Deaf implements WakeUpListener {

        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    }
}
