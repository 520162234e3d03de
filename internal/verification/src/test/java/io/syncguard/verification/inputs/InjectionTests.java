package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Texts that are code in SQL, in Lua, in a pattern of Redis, in SpEL or in a line of the log are only texts here. Names
 * of tables are in {@code TableNamesTests}, headers in {@code FenceHttpTests}, parameters of the endpoint in
 * {@code SyncGuardEndpointTests}, and bad properties in {@link PropertyInputTests}.
 */
@Timeout(120)
class InjectionTests {

    private static final List<String> CODE = List.of(
            "'; DROP TABLE syncguard_locks CASCADE; --",
            "\\'; DELETE FROM syncguard_locks; --",
            "$$; DROP TABLE syncguard_locks; $$",
            "{order:1,\"a\"}",
            "NULL",
            "]] redis.call('FLUSHALL') --",
            "' .. redis.call('FLUSHALL') .. '",
            "%s%n$1?:name",
            "a\r\nSET a b\r\n");

    /** A lock that an injection would delete, and a key that it would change. */
    static Stream<LockEngine> engines() {
        return Stream.of(
                        ApplicationBackend.on(PostgresServer.newDatabaseUrl()),
                        redis(RedisServer.newPrefix() + ":"),
                        new InMemoryLockBackend())
                .map(InjectionTests::engine);
    }

    @ParameterizedTest
    @MethodSource("engines")
    void keys_and_owners_are_texts(LockEngine locks) {
        try (locks;
                LockHandle witness = locks.acquire(LockRequest.of("witness"))) {
            for (String code : CODE) {
                try (LockHandle lock =
                        locks.acquire(LockRequest.of(code).owner(code).noHeartbeat())) {
                    assertThat(lock.key()).isEqualTo(code);
                    assertThat(locks.admin().lookup(code))
                            .hasValueSatisfying(info -> assertThat(info.owner()).isEqualTo(code));
                    assertThat(locks.admin()
                                    .list(LockQuery.all().startingWith(code))
                                    .locks())
                            .extracting(LockStatus::key)
                            .containsExactly(code);
                }
                assertThat(locks.isLocked(code)).isFalse();
            }
            assertThat(witness.extend(Duration.ofSeconds(30))).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void a_key_and_an_owner_make_no_line_of_a_message_or_the_log(LockEngine locks) {
        String forged = "a\nWARN Lost lock 'b'\u2028\u001b[2J";
        try (locks;
                CapturedLog log = new CapturedLog();
                LockHandle lock = locks.acquire(LockRequest.of(forged).owner(forged))) {
            Assertions.assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> locks.acquire(LockRequest.of(forged).waitTime(Duration.ZERO)))
                    .satisfies(ex -> assertThat(ex.owner()).isEqualTo(forged))
                    .withMessageNotContainingAny("\n", "\u2028", "\u001b")
                    .withMessageContaining("'a\\u000aWARN");
            locks.admin().forceRelease(forged, forged);
            assertThat(lock.isHeld()).isFalse();

            assertThat(log.messages())
                    .hasSize(2)
                    .allSatisfy(message -> assertThat(message)
                            .doesNotContain("\n", "\u2028", "\u001b")
                            .contains("\\u000a"));
        } catch (LockLostException ex) {
            // The handle was released by force.
            assertThat(ex.key()).isEqualTo(forged);
        }
    }

    /** The prefix is a pattern where Redis lists keys. */
    @ParameterizedTest
    @ValueSource(strings = {"{a}*:", "{a}?:", "{a}[xy]:", "{a}\\:", "{a}\n:", "{a}]] redis.call('FLUSHALL') --:"})
    void a_prefix_of_redis_reaches_no_other_keys(String suffix) {
        String start = RedisServer.newPrefix();
        try (LockEngine neighbour = engine(redis(start + "{a}x:"));
                LockEngine locks = engine(redis(start + suffix))) {
            LockHandle other = neighbour.acquire(LockRequest.of("of the neighbour"));
            LockHandle own = locks.acquire(LockRequest.of("own"));

            assertThat(locks.admin().list(LockQuery.all()).locks())
                    .extracting(LockStatus::key)
                    .containsExactly("own");
            assertThat(locks.isLocked("of the neighbour")).isFalse();
            assertThat(locks.admin().forceRelease("of the neighbour").released())
                    .isEmpty();
            assertThat(own.release()).isTrue();
            assertThat(other.release()).isTrue();
        }
    }

    @Test
    void an_argument_is_a_text_for_spel() {
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run("--spring.main.banner-mode=off")) {
            for (String orderId : List.of(
                    "#{T(java.lang.System).setProperty('injected', 'true')}",
                    "T(java.lang.System).setProperty('injected', 'true')",
                    "' + T(java.lang.System).setProperty('injected', 'true') + '",
                    "${injected:true}",
                    "@lockBackend",
                    "#root")) {
                assertThat(application.getBean(Orders.class).submit(orderId)).isEqualTo("order:" + orderId);
            }
        }
        assertThat(System.getProperty("injected")).isNull();
    }

    /** A key does not escape the name before its first colon, so no name may begin with another one and a colon. */
    @Test
    void a_name_and_a_key_are_one_text() {
        assertThat(LockRequest.of("order", "export:1").key())
                .isEqualTo(LockRequest.of("order:export", "1").key());
    }

    private static LockBackend redis(String prefix) {
        return new RedisLockBackend(
                RedisServer.connections(RedisServer.url()),
                new RedisSettings(prefix, Duration.ofSeconds(5), RedisSettings.WAITER_TTL));
    }

    private static LockEngine engine(LockBackend store) {
        return new LockEngine(store, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#orderId")
        public String submit(String orderId) {
            return LockHandle.current().orElseThrow().key();
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    @Import(Orders.class)
    static class Application {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }
}
