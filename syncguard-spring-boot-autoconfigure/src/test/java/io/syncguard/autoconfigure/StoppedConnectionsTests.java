package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StoppingApplications.assertAborted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A stopped application has none of the library's connections, as a checkpoint of the process needs it, and a started
 * one works as before.
 */
@Timeout(120)
class StoppedConnectionsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ofMinutes(1));

    private final TestDatabase database = TestDatabase.withSchema();
    private final String name = "stopped-" + UUID.randomUUID();
    private final LettuceConnectionFactory redis = RedisServer.connections(RedisServer.url());

    @BeforeEach
    void connect() {
        redis.afterPropertiesSet();
        redis.start();
    }

    @AfterEach
    void disconnect() {
        redis.destroy();
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void they_close_at_each_stop_and_open_at_each_start(String backend) {
        run(backend, application -> {
            LockManager locks = application.getBean(LockManager.class);
            for (int cycle = 0; cycle < 3; cycle++) {
                Applications.waitForALock(application);
                await().atMost(Duration.ofSeconds(20)).until(() -> connections() >= 2);

                application.stop();
                assertNone();
                assertAborted(() -> locks.acquire(ORDER));
                assertThat(connections()).as("a refusal needs none").isZero();

                application.start();
                await().atMost(Duration.ofSeconds(20)).until(() -> connections() > 0);
            }
            LockHandle lock = locks.acquire(ORDER.ttl(Duration.ofMillis(1500)));
            await().pollDelay(Duration.ofSeconds(2)).until(lock::isHeld);
            assertThat(lock.release()).isTrue();
        });
        assertNone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void callers_who_wait_are_aborted_and_keep_none_open(String backend) {
        run(backend, application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle held = locks.acquire(ORDER);
            CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(() -> locks.acquire(ORDER));
            await().until(() ->
                    locks.admin().status(ORDER.key()).orElseThrow().queue().size() == 1);

            application.stop();

            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(waiter::join)
                    .withCauseInstanceOf(LockException.class);
            assertThat(held.isHeld()).isFalse();
            assertNone();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void a_look_while_it_is_stopped_opens_one_until_the_next_stop_or_the_end(String backend) {
        run(backend, application -> {
            LockManager locks = application.getBean(LockManager.class);
            application.stop();
            assertNone();

            assertThat(locks.isLocked(ORDER.key())).isFalse();
            application.start();
            application.stop();
            application.stop();
            assertNone();

            assertThat(locks.isLocked(ORDER.key())).isFalse();
        });
        assertNone();
    }

    private void run(String backend, Consumer<AssertableApplicationContext> test) {
        Applications.on(database.url())
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "spring.application.name=" + name,
                        "spring.data.redis.url=" + RedisServer.url(),
                        "syncguard.redis.key-prefix=" + RedisServer.newPrefix() + ":",
                        "syncguard.shutdown-timeout=0s",
                        "syncguard.backend=" + backend)
                .run(test::accept);
    }

    private void assertNone() {
        await().atMost(Duration.ofSeconds(20)).until(() -> connections() == 0);
    }

    /** The library's connections at both servers. */
    private long connections() {
        try (RedisConnection connection = redis.getConnection()) {
            return database.jdbc()
                            .queryForObject(
                                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                            + " AND application_name LIKE 'syncguard%'",
                                    Long.class)
                    + connection.serverCommands().getClientList().stream()
                            .filter(client -> String.valueOf(client.getName()).equals("syncguard-" + name))
                            .count();
        }
    }
}
