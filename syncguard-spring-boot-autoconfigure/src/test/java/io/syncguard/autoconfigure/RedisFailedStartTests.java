package io.syncguard.autoconfigure;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What a person reads if an application with locks in Redis does not start. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class RedisFailedStartTests {

    private final String prefix = RedisServer.newPrefix();
    private final FailedStart start;
    private final List<OwnRedis> opened = new ArrayList<>();

    RedisFailedStartTests(CapturedOutput output) {
        this.start = new FailedStart(output)
                .with(FailedStart.NO_DATA_SOURCE)
                .with("syncguard.redis.key-prefix=" + prefix + ":")
                .whereas(prefix, "{shop}");
    }

    @AfterEach
    void stop() {
        opened.forEach(OwnRedis::close);
    }

    @Test
    void without_the_library() {
        start.with("syncguard.backend=redis").without(RedisClient.class).reads("no-library-redis");
    }

    @Test
    void without_a_connection_factory() {
        start.with("syncguard.backend=redis")
                .with(FailedStart.NO_DATA_SOURCE
                        + ",org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
                .reads("no-connection-factory");
    }

    @Test
    void with_two_connection_factories() {
        start.with(TwoFactories.class).reads("two-connection-factories");
    }

    @Test
    void with_a_connection_factory_of_another_driver() {
        start.with("spring.data.redis.client-type=jedis").reads("other-driver");
    }

    @Test
    void with_a_connection_factory_of_another_driver_and_without_lettuce() {
        start.with("spring.data.redis.client-type=jedis")
                .without(RedisClient.class)
                .reads("other-driver-alone");
    }

    @Test
    void with_the_connection_factory_of_redisson() {
        start.with(Redisson.class).reads("redisson");
    }

    @Test
    void with_a_mock_of_a_connection_factory() {
        start.with(MockedFactory.class).reads("mocked-connection-factory");
    }

    @Test
    void with_a_mark_on_another_bean() {
        start.with(MarkedTemplate.class).reads("marked-elsewhere");
    }

    @Test
    void with_marks_for_two_stores() {
        start.with(TwoMarks.class).reads("two-marked-stores");
    }

    @Test
    void with_a_connection_factory_that_does_not_reveal_its_server() {
        start.with("spring.data.redis.masterreplica.nodes=127.0.0.1:1,127.0.0.1:2")
                .reads("unreadable-connection-factory");
    }

    @Test
    void with_a_connection_factory_that_connects_in_a_way_of_its_own() {
        start.with(OwnWay.class).reads("own-way-to-connect");
    }

    /** A real server, whose version a proxy lowers. */
    @Test
    void on_a_redis_that_is_too_old() {
        try (OwnRedis redis = new OwnRedis();
                RedisProxy proxy = new RedisProxy(redis.url())) {
            proxy.replaceInAnswers("redis_version:6.2", "redis_version:6.0");
            start.with("spring.data.redis.url=" + proxy.url())
                    .whereas(versionOf(redis), "6.0.9")
                    .reads("old-redis");
        }
    }

    /** The first layout had no version. */
    @Test
    void with_keys_of_the_first_layout() {
        storeLayout(Map.of("shards", "1", "fences", "clock"));
        start.with("spring.data.redis.url=" + RedisServer.url()).reads("redis-first-layout");
    }

    @Test
    void with_keys_of_a_later_layout() {
        storeLayout(Map.of("version", "3", "shards", "1", "fences", "clock"));
        start.with("spring.data.redis.url=" + RedisServer.url()).reads("redis-later-layout");
    }

    @Test
    void with_another_number_of_shards() {
        storeLayout("2", "clock");
        start.with("spring.data.redis.url=" + RedisServer.url(), "syncguard.redis.shards=4")
                .reads("other-shards");
    }

    @Test
    void with_counters_where_fences_come_from_the_clock() {
        storeLayout("1", "clock");
        start.with("spring.data.redis.url=" + RedisServer.url(), "syncguard.fences=counter")
                .reads("redis-counters-after-clock");
    }

    @Test
    void where_somebody_else_uses_the_keys() {
        try (RedisConnection redis = connection()) {
            redis.stringCommands().set(bytes(prefix + ":layout"), bytes("other"));
        }
        start.with("spring.data.redis.url=" + RedisServer.url()).reads("keys-in-use");
    }

    @Test
    void with_a_wrong_password() {
        on(redis -> redis.url("shop", "wrong"), AclSetuserArgs.Builder.on().addPassword("right"))
                .reads("redis-wrong-password");
    }

    @Test
    void without_the_password() {
        try (OwnRedis redis = new OwnRedis("requirepass secret")) {
            start.with("spring.data.redis.url=" + redis.url())
                    .whereasMatches("NOAUTH .*", "NOAUTH <words>")
                    .reads("redis-no-password");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVAL", "EVALSHA", "SET", "ZADD", "HSET"})
    void without_the_right_to_a_command(String command) {
        AclSetuserArgs rights = AclSetuserArgs.Builder.on()
                .addPassword("right")
                .allKeys()
                .allChannels()
                .allCommands()
                .removeCommand(CommandType.valueOf(command));
        on(redis -> redis.url("shop", "right"), rights)
                .whereasMatches("Redis may not do what locks need: .*", "Redis may not do what locks need: <words>")
                .reads("redis-no-right");
    }

    @Test
    void without_the_right_to_the_keys() {
        AclSetuserArgs rights = AclSetuserArgs.Builder.on()
                .addPassword("right")
                .keyPattern("other:*")
                .allChannels()
                .allCommands();
        on(redis -> redis.url("shop", "right"), rights)
                .whereasMatches("Redis may not do what locks need: .*", "Redis may not do what locks need: <words>")
                .reads("redis-no-right");
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVAL", "EVALSHA"})
    void on_a_server_without_a_command(String command) {
        try (OwnRedis redis = new OwnRedis("rename-command " + command + " \"\"")) {
            start.with("spring.data.redis.url=" + redis.url())
                    .whereasMatches("[`'](eval|evalsha|EVAL|EVALSHA)[`']", "'EVAL'")
                    .reads("redis-no-command");
        }
    }

    @Test
    void with_a_database_that_does_not_exist() {
        try (OwnRedis redis = new OwnRedis()) {
            start.with("spring.data.redis.url=" + redis.url() + "/99").reads("redis-no-database");
        }
    }

    @Test
    void with_a_wrong_password_for_a_cluster() {
        try (OwnRedis redis = new OwnRedis("cluster-enabled yes")) {
            redis.commands().aclSetuser("shop", AclSetuserArgs.Builder.on().addPassword("right"));
            start.with(
                            "spring.data.redis.cluster.nodes=127.0.0.1:" + redis.port(),
                            "spring.data.redis.username=shop",
                            "spring.data.redis.password=wrong")
                    .afterAWarning()
                    .reads("redis-wrong-password");
        }
    }

    private FailedStart on(Function<OwnRedis, String> url, AclSetuserArgs rights) {
        OwnRedis redis = new OwnRedis();
        opened.add(redis);
        redis.commands().aclSetuser("shop", rights);
        return start.with("spring.data.redis.url=" + url.apply(redis));
    }

    @Test
    void with_a_prefix_of_keys_of_another_one() {
        start.with("syncguard.redis.key-prefix={shop}:lock:").reads("prefix-of-another");
        start.with("syncguard.redis.key-prefix={shop#1}:").reads("prefix-of-a-shard");
    }

    @Test
    void with_shards_and_a_prefix_without_a_hash_tag() {
        start.with("syncguard.redis.key-prefix=shop:", "syncguard.redis.shards=4")
                .reads("prefix-for-shards");
    }

    @Test
    void on_a_cluster_with_a_prefix_without_a_hash_tag() {
        start.with("spring.data.redis.cluster.nodes=127.0.0.1:1", "syncguard.redis.key-prefix=shop:")
                .reads("prefix-for-cluster");
    }

    @Test
    void with_a_prefix_that_is_too_long() {
        String long1000 = "s".repeat(1000);
        start.with("syncguard.redis.key-prefix=" + long1000)
                .whereas(long1000, "<long>")
                .reads("prefix-too-long");
    }

    private void storeLayout(String shards, String fences) {
        storeLayout(Map.of("version", "2", "shards", shards, "fences", fences));
    }

    private void storeLayout(Map<String, String> fields) {
        try (RedisConnection redis = connection()) {
            fields.forEach(
                    (field, value) -> redis.hashCommands().hSet(bytes(prefix + ":layout"), bytes(field), bytes(value)));
        }
    }

    private static RedisConnection connection() {
        LettuceConnectionFactory factory = RedisServer.connections(RedisServer.url());
        factory.afterPropertiesSet();
        factory.start();
        return factory.getConnection();
    }

    private static String versionOf(OwnRedis redis) {
        return redis.commands()
                .info("server")
                .lines()
                .filter(line -> line.startsWith("redis_version:"))
                .map(line -> line.substring("redis_version:".length()).replaceFirst("^6\\.2", "6.0"))
                .findFirst()
                .orElseThrow();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnWay {

        @Bean
        RedisConnectionFactory redisConnectionFactory() {
            return new OwnFactory();
        }
    }

    static final class OwnFactory extends LettuceConnectionFactory {

        @Override
        protected AbstractRedisClient createClient() {
            return super.createClient();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoFactories {

        @Bean
        LettuceConnectionFactory orders() {
            return RedisServer.connections("redis://127.0.0.1:1");
        }

        @Bean
        LettuceConnectionFactory customers() {
            return RedisServer.connections("redis://127.0.0.1:2");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Redisson {

        @Bean
        RedissonConnectionFactory redissonConnectionFactory() {
            return new RedissonConnectionFactory();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MockedFactory {

        @Bean
        LettuceConnectionFactory orders() {
            return Mockito.mock(LettuceConnectionFactory.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedTemplate {

        @Bean
        @SyncGuardRedisConnectionFactory
        RedisTemplate<String, String> orders(RedisConnectionFactory connections) {
            return new StringRedisTemplate(connections);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoMarks {

        @Bean
        @SyncGuardRedisConnectionFactory
        RedisConnectionFactory lockConnections() {
            return RedisServer.connections("redis://127.0.0.1:1");
        }

        @Bean
        @SyncGuardDataSource
        DataSource lockDataSource() {
            return PostgresServer.dataSource("jdbc:postgresql://127.0.0.1:1/none");
        }
    }
}
