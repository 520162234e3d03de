package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import io.syncguard.testing.TranslatedTexts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.core.StringRedisTemplate;

/** An application whose locks are in Redis: when Redis is chosen, which server it is, and the messages at the start. */
class RedisLockAutoConfigurationTests {

    @Test
    void redis_keeps_the_locks_where_there_is_no_data_source() {
        String prefix = RedisServer.newPrefix();
        onRedis()
                .withPropertyValues("syncguard.redis.key-prefix=" + prefix + ":")
                .run(application -> {
                    StringRedisTemplate redis = application.getBean(StringRedisTemplate.class);

                    application.getBean(LockTemplate.class).executeWithoutResult(LockRequest.of("order:42"), lock -> {
                        assertThat(redis.opsForValue().get(prefix + ":lock:order:42"))
                                .contains(lock.lockId());
                        assertThat(redis.opsForValue().get(prefix + ":fence:order:42"))
                                .isEqualTo(String.valueOf(lock.fence().value()));
                    });
                });
    }

    /** One of the prefixes would be a pattern. */
    @ParameterizedTest
    @ValueSource(strings = {"", ":", "::", "*", "shop*[a-z]?\\\\:", "{}:", "läden", "a b"})
    void any_prefix_works_on_one_server(String prefix) {
        try (OwnRedis redis = new OwnRedis()) {
            redis.commands().set("other", "1");
            on(redis.url())
                    .withInitializer(application -> application
                            .getEnvironment()
                            .getPropertySources()
                            .addFirst(new MapPropertySource("prefix", Map.of("syncguard.redis.key-prefix", prefix))))
                    .run(application -> {
                        assertThat(application).hasNotFailed();
                        LockManager locks = application.getBean(LockManager.class);
                        LockHandle held = locks.acquire(LockRequest.of("order:42"));
                        assertThat(locks.admin().list(LockQuery.all()).locks())
                                .extracting(LockStatus::key)
                                .containsExactly("order:42");
                        CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(
                                () -> locks.acquire(LockRequest.of("order:42").waitTime(Duration.ofSeconds(30))));
                        Awaitility.await()
                                .until(() -> locks.admin()
                                                .status("order:42")
                                                .orElseThrow()
                                                .waiters()
                                        == 1);
                        held.release();
                        assertThat(waiter.join().release()).isTrue();
                        assertThat(locks.isLocked("order:42")).isFalse();
                    });
        }
    }

    @Test
    void the_prefix_has_a_hash_tag_when_nothing_is_said() {
        onRedis()
                .run(application -> assertThat(application.getBean(SyncGuardProperties.class))
                        .extracting(properties -> properties.redis().keyPrefix())
                        .isEqualTo("{syncguard}:"));
    }

    @Test
    void postgres_keeps_the_locks_where_there_is_a_data_source_and_nothing_is_said() {
        onBoth().run(application ->
                assertThat(application.getBean(LockBackend.class)).isInstanceOf(PostgresLockBackend.class));
    }

    @Test
    void redis_keeps_the_locks_where_it_is_asked_for() {
        onBoth().withPropertyValues("syncguard.backend=redis")
                .run(application ->
                        assertThat(application.getBean(LockBackend.class)).isInstanceOf(RedisLockBackend.class));
    }

    @Test
    void the_start_fails_when_redis_is_asked_for_and_nobody_says_where_it_is() {
        Applications.on(TestDatabase.withSchema().url())
                .withPropertyValues("syncguard.backend=redis")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("no RedisConnectionFactory"));
    }

    /** The library would otherwise take its default, localhost. */
    @Test
    void the_start_fails_with_a_static_configuration_of_master_and_replicas() {
        Applications.withoutBoot()
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.masterreplica.nodes=127.0.0.1:1,127.0.0.1:2")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("cannot be read"));
    }

    /** The driver gives up after a timeout: the start tries once more before it warns. */
    @Test
    void a_server_that_first_answers_late_is_no_reason_for_a_warning() {
        try (OwnRedis redis = new OwnRedis();
                RedisProxy proxy = new RedisProxy(redis.url());
                CapturedLog log = new CapturedLog()) {
            proxy.loseWaysAtNextAnswer();
            on(proxy.url())
                    .withPropertyValues("syncguard.redis.network-timeout=1s")
                    .run(application -> assertThat(application).hasNotFailed());

            assertThat(log.messages()).noneMatch(message -> message.contains("fail for now"));
        }
    }

    /** The first attempt ends without a reason, as in a JVM that is too busy to read it. */
    @Test
    void a_warning_has_the_reason_of_the_second_attempt() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CapturedLog log = new CapturedLog()) {
            CompletableFuture<Socket> first = CompletableFuture.supplyAsync(() -> {
                try (silent) {
                    return silent.accept();
                } catch (IOException ex) {
                    throw new UncheckedIOException(ex);
                }
            });
            on("redis://127.0.0.1:" + silent.getLocalPort())
                    .withPropertyValues("syncguard.redis.network-timeout=1s")
                    .run(application -> assertThat(application).hasNotFailed());

            assertThat(log.messages())
                    .anyMatch(message ->
                            message.contains("fail for now") && message.contains(TranslatedTexts.connectionRefused()));
            first.join().close();
        }
    }

    @Test
    void the_application_starts_and_says_so_when_a_lock_is_asked_for_while_redis_is_away() {
        OwnRedis redis = new OwnRedis();
        redis.stop();

        on(redis.url()).run(application -> {
            assertThat(application).hasNotFailed();
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> application.getBean(LockManager.class).isLocked("order:42"))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
        });
    }

    @Test
    void the_start_fails_when_the_locks_are_spread_over_another_number_of_shards() {
        String prefix = RedisServer.newPrefix();
        ApplicationContextRunner four =
                onRedis().withPropertyValues("syncguard.redis.key-prefix=" + prefix + ":", "syncguard.redis.shards=4");

        four.run(application -> {
            assertThat(application).hasNotFailed();
            four.withPropertyValues("syncguard.redis.shards=8")
                    .run(other -> assertThat(other)
                            .getFailure()
                            .rootCause()
                            .isInstanceOf(LockException.class)
                            .hasMessageContaining("syncguard.redis.shards is 8")
                            .hasMessageContaining("Set syncguard.redis.shards=4"));
            application
                    .getBean(LockTemplate.class)
                    .executeWithoutResult(
                            LockRequest.of("order:42"),
                            lock -> assertThat(application
                                            .getBean(StringRedisTemplate.class)
                                            .keys(prefix.replace("}", "#*}") + ":lock:*"))
                                    .hasSize(1));
        });
    }

    @Test
    void a_refused_start_leaves_no_thread_behind() {
        String prefix = RedisServer.newPrefix();
        onRedis()
                .withPropertyValues("syncguard.redis.key-prefix=" + prefix + ":")
                .run(application -> {
                    Set<Thread> before = Thread.getAllStackTraces().keySet();
                    onRedis()
                            .withPropertyValues(
                                    "syncguard.redis.key-prefix=" + prefix + ":", "syncguard.redis.shards=2")
                            .run(other -> assertThat(other).hasFailed());

                    Awaitility.await()
                            .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet().stream()
                                            .filter(thread -> !before.contains(thread))
                                            .map(Thread::getName)
                                            .filter(name -> name.startsWith("syncguard")))
                                    .isEmpty());
                });
    }

    @Test
    void a_server_that_throws_keys_away_is_warned_of() {
        Map<String, String> warnings = Map.ofEntries(
                entry("noeviction", ""),
                entry("allkeys-lru", "deletes locks and fence counters"),
                entry("volatile-ttl", "deletes locks when"));

        try (OwnRedis redis = new OwnRedis()) {
            warnings.forEach((policy, warning) -> {
                redis.commands().configSet("maxmemory-policy", policy);
                try (CapturedLog log = new CapturedLog()) {
                    on(redis.url()).run(application -> assertThat(application).hasNotFailed());

                    assertThat(String.join("", log.messages())).contains(warning);
                    assertThat(log.messages()).hasSize(warning.isEmpty() ? 0 : 1);
                }
            });
        }
    }

    private static ApplicationContextRunner onBoth() {
        return Applications.on(TestDatabase.withSchema().url())
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.url=" + RedisServer.url());
    }

    private static ApplicationContextRunner onRedis() {
        return on(RedisServer.url());
    }

    private static ApplicationContextRunner on(String url) {
        return Applications.withoutBoot()
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.url=" + url);
    }
}
