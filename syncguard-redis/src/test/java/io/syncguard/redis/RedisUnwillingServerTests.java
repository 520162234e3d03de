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
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that run and refuse writes: locks are unavailable, and work again as soon as the server accepts writes. */
class RedisUnwillingServerTests {

    /** The server reads this number of keys for five seconds. */
    private static final int KEYS = 16;

    /** While the server reads, it answers requests each time it has read this number of bytes. */
    private static final int TWO_MEGABYTES = 1 << 21;

    private final AcquireRequest held = Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(10), "test");
    private final AcquireRequest request =
            Requests.exclusive("order:43", "B".repeat(22), Duration.ofMinutes(10), "test");

    @TempDir
    private Path directory;

    @Test
    void one_that_cannot_save() throws Exception {
        try (OwnRedis redis = new OwnRedis("save 3600 1", "dir " + directory)) {
            try (StoreCalls backend = open(redis)) {
                backend.acquire(held);
                Path inTheWay = Files.createDirectory(directory.resolve("dump.rdb"));
                redis.commands().bgsave();
                eventually().until(() -> redis.commands().info("persistence").contains("rdb_last_bgsave_status:err"));

                assertUnavailable("MISCONF", backend);
                assertUnavailable("MISCONF", () -> backend.release(held.lockId()));
                assertThat(backend.isLocked("order:42")).isTrue();

                Files.delete(inTheWay);
                redis.commands().bgsave();
                eventually().until(() -> redis.commands().info("persistence").contains("rdb_last_bgsave_status:ok"));
                assertLocks(backend);
                assertThat(backend.release(held.lockId())).isEqualTo(ReleaseResult.RELEASED);
            } finally {
                // A server that cannot save does not stop.
                redis.commands().configSet("save", "");
            }
        }
    }

    @Tag("verification")
    @Test
    void one_that_is_still_reading_what_it_has_saved() {
        try (OwnRedis redis = new OwnRedis("dir " + directory, "rdbcompression no", "key-load-delay 300000");
                StoreCalls backend = open(redis)) {
            backend.acquire(held);
            IntStream.range(0, KEYS).forEach(i -> redis.commands().setrange("ballast:" + i, TWO_MEGABYTES, "."));
            redis.commands().save();
            redis.stop();
            CompletableFuture<Void> started = CompletableFuture.runAsync(redis::start);

            eventually().untilAsserted(() -> assertUnavailable("LOADING", backend));

            started.join();
            assertLocks(backend);
            assertThat(backend.release(held.lockId())).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    @Test
    void a_replica_that_has_lost_its_master() {
        try (OwnRedis master = new OwnRedis();
                OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + master.port(), "replica-serve-stale-data no");
                StoreCalls backend = open(replica)) {
            master.stop();

            eventually().untilAsserted(() -> assertUnavailable("MASTERDOWN", () -> backend.isLocked("order:43")));
            // Between two such answers there is no connection: each of them closes it.
            eventually().untilAsserted(() -> assertUnavailable("MASTERDOWN", backend));

            replica.commands().replicaofNoOne();
            eventually().ignoreExceptions().until(() -> !backend.isLocked("order:43"));
            assertLocks(backend);
            master.start();
        }
    }

    @Test
    void one_that_misses_its_replicas() {
        try (OwnRedis redis = new OwnRedis("min-replicas-to-write 1");
                StoreCalls backend = open(redis)) {
            assertUnavailable("NOREPLICAS", backend);

            redis.commands().configSet("min-replicas-to-write", "0");
            assertLocks(backend);
        }
    }

    private void assertUnavailable(String word, StoreCalls backend) {
        assertUnavailable(word, () -> backend.acquire(request));
    }

    private static void assertUnavailable(String word, Runnable call) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(call::run)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE))
                .satisfies(ex -> assertThat(ex).hasStackTraceContaining(word));
    }

    /** The failed acquisition left nothing behind. */
    private void assertLocks(StoreCalls backend) {
        assertThat(backend.acquire(request))
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value()).isEqualTo(1));
    }

    private static StoreCalls open(OwnRedis redis) {
        return new StoreCalls(new RedisLockBackend(
                RedisServer.connections(redis.url()),
                // Fences from counters are numbers of grants.
                new RedisSettings(
                        RedisSettings.KEY_PREFIX,
                        Duration.ofSeconds(10),
                        RedisSettings.WAITER_TTL,
                        1,
                        FenceSettings.from(FenceSource.COUNTER))));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20));
    }
}
