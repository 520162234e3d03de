package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.RedisProxy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The address stays and the master changes: a server that says that it is not the master is left. */
class RedisWrongServerTests {

    private static final String HELD = "A".repeat(22);

    private static final WakeUpListener IGNORED = new WakeUpListener() {
        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    };

    private final OwnRedis first = new OwnRedis();
    private final OwnRedis second = new OwnRedis("replicaof 127.0.0.1 " + first.port());
    private final RedisProxy address = new RedisProxy(first.url());

    /** Each is sent alone: any one of them has to find the master. */
    private enum Operation {
        ACQUIRE(backend -> backend.acquire(request("free", "F"))),
        EXTEND(backend -> backend.extend(extension())),
        HEARTBEAT(backend -> backend.extendAll(List.of(extension()))),
        ROTATE(backend -> backend.rotate(extension())),
        RELEASE(backend -> backend.release(HELD));

        private final Consumer<StoreCalls> call;

        Operation(Consumer<StoreCalls> call) {
            this.call = call;
        }
    }

    @AfterEach
    void close() {
        address.close();
        first.close();
        second.close();
    }

    @ParameterizedTest
    @CsvSource({"ACQUIRE, AUTO", "ACQUIRE, ALWAYS", "EXTEND, AUTO", "HEARTBEAT, AUTO", "ROTATE, AUTO", "RELEASE, AUTO"})
    void both_connections_go_to_the_new_master_behind_the_same_address(Operation operation, RedisBatching batching) {
        try (StoreCalls backend = open(batching)) {
            backend.connect(IGNORED);
            eventually().ignoreExceptions().until(() -> backend.acquire(request("held", "A")) != null);
            backend.acquire(request("held", "B").waitingAs(1));
            eventually().until(backend::isConnected);
            assertThat(first.commands().waitForReplication(1, 30_000)).isEqualTo(1);

            second.commands().replicaofNoOne();
            address.moveTo(second.port());
            first.follow(second);
            eventually().until(() -> first.ask("replication").contains("master_link_status:up"));

            eventually().ignoreExceptions().until(() -> {
                operation.call.accept(backend);
                return true;
            });
            eventually().untilAsserted(() -> {
                assertThat(connections(first)).isZero();
                assertThat(connections(second)).isEqualTo(2);
            });
        }
    }

    /** The first request of a process comes before the address moves. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_process_that_starts_on_the_old_master_goes_to_the_new_one(boolean servesStaleData) {
        first.commands().configSet("replica-serve-stale-data", servesStaleData ? "yes" : "no");
        second.commands().replicaofNoOne();
        first.commands().replicaof("127.0.0.1", 1);
        try (StoreCalls backend = open(RedisBatching.AUTO)) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> backend.acquire(request("free", "F")))
                    .withStackTraceContaining(servesStaleData ? "READONLY" : "MASTERDOWN");

            address.moveTo(second.port());

            eventually().ignoreExceptions().until(() -> backend.acquire(request("free", "F")) != null);
        }
    }

    private static long connections(OwnRedis server) {
        return server.commands()
                .clientList()
                .lines()
                .filter(line -> line.contains("name=syncguard "))
                .count();
    }

    private StoreCalls open(RedisBatching batching) {
        return batching.backend(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(
                        "127.0.0.1", URI.create(address.url()).getPort())),
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        Duration.ofSeconds(2),
                        RedisSettings.WAITER_TTL,
                        1,
                        FenceSettings.from(FenceSource.CLOCK)));
    }

    private static AcquireRequest request(String key, String letter) {
        return Requests.exclusive(key, letter.repeat(22), Duration.ofMinutes(10), "test");
    }

    private static ExtendRequest extension() {
        return Requests.extension(HELD, Duration.ofMinutes(10));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(20));
    }
}
