package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.ServerProxy;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A request without an answer ends at a limit, and the message says which. */
class AnswerLimitTests {

    @ParameterizedTest
    @CsvSource({
        "postgres, PT1S, The limit of 332ms is a third of the ttl",
        "postgres, PT30S, The limit of 500ms is half of syncguard.postgres.network-timeout",
        "jdbc, PT1S, The limit of 332ms is a third of the ttl",
        "jdbc, PT30S, The limit of 500ms is half of syncguard.jdbc.network-timeout"
    })
    void on_a_database(String backend, Duration ttl, String words) {
        try (PostgresProxy server = new PostgresProxy(PostgresServer.newDatabaseUrl())) {
            names(
                    server,
                    Applications.on(server.url())
                            .withPropertyValues(
                                    "syncguard.backend=" + backend, "syncguard." + backend + ".network-timeout=1s"),
                    ttl,
                    words);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PT1S, The limit of 332ms is a third of the ttl",
        "PT30S, The limit of 500ms is syncguard.redis.network-timeout"
    })
    void on_redis(Duration ttl, String words) {
        try (RedisProxy server = new RedisProxy(RedisServer.url())) {
            names(
                    server,
                    Applications.withoutBoot()
                            .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                            .withPropertyValues(
                                    "syncguard.backend=redis",
                                    "syncguard.redis.key-prefix=" + RedisServer.newPrefix(),
                                    "syncguard.redis.network-timeout=500ms",
                                    "spring.data.redis.url=" + server.url()),
                    ttl,
                    words);
        }
    }

    private static void names(ServerProxy server, ApplicationContextRunner runner, Duration ttl, String words) {
        runner.withPropertyValues("syncguard.shutdown-timeout=0s").run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            locks.acquire(LockRequest.of("warm:up")).release();
            server.fallSilent();
            assertThat(catchThrowable(
                            () -> locks.acquire(LockRequest.of("order:1").ttl(ttl))))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("did not answer in time")
                    .hasMessageContaining(words)
                    .extracting(failure -> ((LockBackendException) failure).code())
                    .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        });
    }
}
