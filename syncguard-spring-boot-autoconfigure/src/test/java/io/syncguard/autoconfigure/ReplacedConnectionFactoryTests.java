package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.netty.channel.Channel;
import io.syncguard.LockBackendException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.CapturedLog;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/** Locks follow a replaced LettuceConnectionFactory, and connect as it does or not at all. */
@Timeout(60)
class ReplacedConnectionFactoryTests {

    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ZERO);

    private final OwnRedis redis = new OwnRedis();

    @AfterEach
    void stopServer() {
        redis.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void locks_follow_a_password_that_was_rotated(boolean byClass) {
        allow("first");
        HotSwappableTargetSource target = new HotSwappableTargetSource(factory("first"));
        RedisConnectionFactory bean = byClass
                ? (RedisConnectionFactory) ProxyFactory.getProxy(target)
                : ProxyFactory.getProxy(RedisConnectionFactory.class, target);
        on(bean).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            assertLocks(locks);

            allow("second");
            target.swap(factory("second"));
            endConnections();

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockBackendException.class)
                    .untilAsserted(() -> assertLocks(locks));
        });
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void locks_follow_a_credentials_provider(boolean before, boolean after) {
        allow("first");
        HotSwappableTargetSource target = new HotSwappableTargetSource(providing("first", before));
        on(ProxyFactory.getProxy(RedisConnectionFactory.class, target)).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            assertLocks(locks);

            allow("second");
            target.swap(providing("second", after));
            endConnections();

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockBackendException.class)
                    .untilAsserted(() -> assertLocks(locks));
        });
    }

    private LettuceConnectionFactory providing(String password, boolean provider) {
        return provider
                ? factory(
                        "none",
                        LettuceClientConfiguration.builder()
                                .redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {
                                    @Override
                                    public RedisCredentialsProvider createCredentialsProvider(
                                            RedisConfiguration details) {
                                        return RedisCredentialsProvider.from(
                                                () -> RedisCredentials.just("locker", password));
                                    }
                                })
                                .build())
                : factory(password);
    }

    /** The certificate that the application has given up is the one of a false server. */
    @Test
    void a_new_password_goes_only_to_a_server_that_the_new_factory_trusts() throws Exception {
        allow("first");
        try (TlsRedis server = new TlsRedis(redis.port())) {
            HotSwappableTargetSource target = new HotSwappableTargetSource(server.trusting("first", 0));
            on(ProxyFactory.getProxy(RedisConnectionFactory.class, target)).run(context -> {
                LockTemplate locks = context.getBean(LockTemplate.class);
                assertLocks(locks);

                allow("second");
                target.swap(server.trusting("second", 1));
                int before = server.handshakes();
                endConnections();
                await().atMost(Duration.ofSeconds(20)).until(() -> server.handshakes() >= before + 2);
                assertThat(server.received()).contains("\r\nfirst\r\n").doesNotContain("\r\nsecond\r\n");

                server.use(1);
                await().atMost(Duration.ofSeconds(20))
                        .ignoreExceptionsInstanceOf(LockBackendException.class)
                        .untilAsserted(() -> assertLocks(locks));
            });
        }
    }

    @Test
    void what_a_new_factory_adds_to_a_channel_is_there() {
        allow("first");
        Queue<Channel> channels = new ConcurrentLinkedQueue<>();
        ClientResources resources = DefaultClientResources.builder()
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        channels.add(channel);
                    }
                })
                .build();
        HotSwappableTargetSource target = new HotSwappableTargetSource(factory("first"));
        on(ProxyFactory.getProxy(RedisConnectionFactory.class, target)).run(context -> {
            assertLocks(context.getBean(LockTemplate.class));
            target.swap(factory(
                    "first",
                    LettuceClientConfiguration.builder()
                            .clientResources(resources)
                            .build()));
            endConnections();
            await().atMost(Duration.ofSeconds(20)).until(() -> !channels.isEmpty());
        });
        resources.shutdown();
    }

    @SuppressWarnings("deprecation")
    static Stream<Consumer<LettuceConnectionFactory>> setters() {
        return Stream.of(
                factory -> factory.setPassword("second"),
                factory -> factory.getStandaloneConfiguration().setPassword("second"),
                factory -> {
                    factory.setPassword("second");
                    factory.resetConnection();
                });
    }

    @ParameterizedTest
    @MethodSource("setters")
    void they_follow_a_setter(Consumer<LettuceConnectionFactory> setter) {
        allow("first");
        LettuceConnectionFactory factory = factory("first");
        on(factory).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            assertLocks(locks);

            allow("second");
            setter.accept(factory);
            endConnections();

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockBackendException.class)
                    .untilAsserted(() -> assertLocks(locks));
        });
    }

    /** The open connection has no TLS, so it does not get the password that the application sends with TLS only. */
    @Test
    void the_password_of_another_server_or_of_a_connection_with_tls_is_not_sent() {
        allow("first");
        HotSwappableTargetSource target = new HotSwappableTargetSource(factory("first"));
        try (CapturedLog log = new CapturedLog()) {
            on(ProxyFactory.getProxy(RedisConnectionFactory.class, target)).run(context -> {
                LockTemplate locks = context.getBean(LockTemplate.class);
                assertLocks(locks);

                allow("second");
                target.swap(factory(
                        "second", LettuceClientConfiguration.builder().useSsl().build()));
                endConnections();

                await().atMost(Duration.ofSeconds(20))
                        .until(() -> log.messages().stream().anyMatch(message -> message.contains("with TLS (")));
                assertThat(catchThrowable(() -> assertLocks(locks))).isInstanceOf(LockBackendException.class);

                target.swap(factory("second"));
                await().atMost(Duration.ofSeconds(20))
                        .ignoreExceptionsInstanceOf(LockBackendException.class)
                        .untilAsserted(() -> assertLocks(locks));
            });
            assertThat(log.messages())
                    .filteredOn(message -> message.contains("restart the application"))
                    .hasSize(1);
        }
    }

    @Test
    void names_lead_where_those_of_the_application_lead_to() {
        allow("first");
        ClientResources resources = DefaultClientResources.builder()
                .socketAddressResolver(new SocketAddressResolver() {
                    @Override
                    public SocketAddress resolve(RedisURI server) {
                        return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort());
                    }
                })
                .build();
        LettuceConnectionFactory factory = factory(
                "first",
                LettuceClientConfiguration.builder().clientResources(resources).build());
        factory.getStandaloneConfiguration().setHostName("nowhere.invalid");

        on(factory).run(context -> assertLocks(context.getBean(LockTemplate.class)));
        resources.shutdown();
    }

    @Test
    void what_the_application_adds_to_a_channel_is_there() {
        allow("first");
        Queue<Channel> channels = new ConcurrentLinkedQueue<>();
        ClientResources resources = DefaultClientResources.builder()
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        channels.add(channel);
                    }
                })
                .build();

        on(factory(
                        "first",
                        LettuceClientConfiguration.builder()
                                .clientResources(resources)
                                .build()))
                .run(context -> {
                    assertLocks(context.getBean(LockTemplate.class));
                    assertThat(channels).isNotEmpty();
                });
        resources.shutdown();
    }

    @Test
    void a_factory_that_connects_in_a_way_of_its_own_fails_the_start() {
        List<LettuceConnectionFactory> own = List.of(
                new LettuceConnectionFactory(details("first")) {
                    @Override
                    protected AbstractRedisClient createClient() {
                        return super.createClient();
                    }
                },
                new LettuceConnectionFactory(details("first")) {
                    @Override
                    public RedisConnection getConnection() {
                        return super.getConnection();
                    }
                });
        for (LettuceConnectionFactory factory : own) {
            on(factory)
                    .run(context -> assertThat(context)
                            .getFailure()
                            .rootCause()
                            .hasMessageContaining("connects in a way of its own")
                            .hasMessageContaining("@SyncGuardRedisConnectionFactory"));
        }
    }

    private static void assertLocks(LockTemplate locks) {
        assertThat(locks.<Boolean, RuntimeException>execute(ORDER, LockHandle::isHeld))
                .isTrue();
    }

    private void endConnections() {
        redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
    }

    private void allow(String password) {
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

    private LettuceConnectionFactory factory(String password) {
        return factory(password, LettuceClientConfiguration.defaultConfiguration());
    }

    private LettuceConnectionFactory factory(String password, LettuceClientConfiguration client) {
        return new LettuceConnectionFactory(details(password), client);
    }

    private RedisStandaloneConfiguration details(String password) {
        RedisStandaloneConfiguration details = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
        details.setUsername("locker");
        details.setPassword(password);
        return details;
    }

    private static ApplicationContextRunner on(RedisConnectionFactory factory) {
        return Applications.withoutBoot()
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .withBean(RedisConnectionFactory.class, () -> factory);
    }
}
