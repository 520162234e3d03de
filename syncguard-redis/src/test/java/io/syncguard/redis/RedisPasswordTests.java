package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;

/** A password that changes while the application runs. */
class RedisPasswordTests {

    private final AcquireRequest request =
            Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test");

    @ParameterizedTest
    @ValueSource(strings = {"configuration", "factory", "provider"})
    void the_new_one_is_read_for_the_next_connection_and_until_then_the_old_one_is_named(String from) {
        try (OwnRedis redis = new OwnRedis()) {
            allow("old", redis);
            RedisStandaloneConfiguration details = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
            details.setUsername("locker");
            details.setPassword("old");
            AtomicReference<String> provided = new AtomicReference<>("old");
            LettuceConnectionFactory application = from.equals("provider")
                    ? new LettuceConnectionFactory(details, providing(provided))
                    : new LettuceConnectionFactory(details);
            Consumer<String> change = switch (from) {
                case "provider" -> provided::set;
                case "factory" -> application.getStandaloneConfiguration()::setPassword;
                default -> details::setPassword;
            };
            try (StoreCalls backend = backend(application)) {
                backend.acquire(request);
                backend.release(request.lockId());

                allow("new", redis);
                redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
                eventually()
                        .untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
                                .isThrownBy(() -> backend.acquire(request))
                                .withMessageContaining("refuses the user or its password")
                                .withStackTraceContaining("WRONGPASS")
                                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED)));

                change.accept("new");
                eventually().ignoreExceptions().until(() -> {
                    backend.acquire(request);
                    return backend.release(request.lockId()).outcome() == ReleaseResult.Outcome.RELEASED;
                });
            }
        }
    }

    @Test
    void a_heartbeat_names_the_old_one() {
        try (OwnRedis redis = new OwnRedis()) {
            allow("old", redis);
            try (StoreCalls backend = backend(RedisServer.connections(redis.url("locker", "old")))) {
                backend.acquire(request);
                allow("new", redis);
                redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());

                eventually()
                        .untilAsserted(() -> assertThat(backend.extend(
                                        List.of(Requests.extension(request.lockId(), Duration.ofMinutes(1)))))
                                .failsWithin(Duration.ofSeconds(10))
                                .withThrowableThat()
                                .withStackTraceContaining("WRONGPASS"));
            }
        }
    }

    @Test
    void a_waiter_ends() throws Exception {
        try (OwnRedis redis = new OwnRedis()) {
            allow("old", redis);
            try (LockEngine engine = new LockEngine(
                    backend(RedisServer.connections(redis.url("locker", "old"))),
                    new EngineSettings(
                            "test",
                            Duration.ofSeconds(30),
                            Duration.ofSeconds(5),
                            Duration.ofMillis(20),
                            Duration.ofMillis(500),
                            Duration.ZERO,
                            Duration.ZERO,
                            Map.of()),
                    TransactionBoundary.NONE,
                    List.of())) {
                engine.acquire(LockRequest.of("order:42").ttl(Duration.ofMinutes(10)));
                FutureTask<?> waiter = new FutureTask<>(
                        () -> engine.acquire(LockRequest.of("order:42").waitTime(Duration.ofMinutes(5))));
                new Thread(waiter).start();
                eventually()
                        .until(() -> engine.diagnostics().process().waiting() == 1
                                && Boolean.TRUE.equals(
                                        engine.diagnostics().process().wakeUps()));

                allow("new", redis);
                redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
                redis.commands().clientKill(KillArgs.Builder.typePubsub());

                assertThat(waiter)
                        .failsWithin(Duration.ofSeconds(60))
                        .withThrowableThat()
                        .havingCause()
                        .asInstanceOf(InstanceOfAssertFactories.throwable(LockBackendException.class))
                        .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
            }
        }
    }

    private static StoreCalls backend(LettuceConnectionFactory application) {
        return RedisBatching.AUTO.backend(
                application,
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(2), RedisSettings.WAITER_TTL));
    }

    private static void allow(String password, OwnRedis redis) {
        redis.commands()
                .aclSetuser(
                        "locker",
                        AclSetuserArgs.Builder.on()
                                .resetpass()
                                .addPassword(password)
                                .allKeys()
                                .allChannels()
                                .allCommands());
    }

    private static LettuceClientConfiguration providing(AtomicReference<String> password) {
        return LettuceClientConfiguration.builder()
                .redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {
                    @Override
                    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration details) {
                        return () -> Mono.fromSupplier(() -> RedisCredentials.just("locker", password.get()));
                    }
                })
                .build();
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(20));
    }
}
