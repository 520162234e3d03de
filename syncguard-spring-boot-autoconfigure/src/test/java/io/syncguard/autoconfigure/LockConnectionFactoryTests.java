package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;

/** An application with more than one Redis: which of them stores the locks. */
class LockConnectionFactoryTests {

    private static OwnRedis orders;
    private static OwnRedis locks;

    @BeforeAll
    static void startServers() {
        orders = new OwnRedis();
        locks = new OwnRedis();
    }

    @AfterAll
    static void stopServers() {
        orders.close();
        locks.close();
    }

    @BeforeEach
    void empty() {
        orders.commands().flushall();
        locks.commands().flushall();
    }

    @Test
    void a_marked_connection_factory_keeps_the_locks_and_boots_own_stays() {
        application()
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.url=" + orders.url())
                .withUserConfiguration(Marked.class)
                .run(application -> {
                    application.getBean(StringRedisTemplate.class).opsForValue().set("mine", "1");
                    assertThat(orders.commands().get("mine")).isEqualTo("1");
                    assertLocksIn(locks, application);
                    assertThat(orders.commands().keys("*")).containsExactly("mine");
                });
    }

    @Test
    void a_marked_connection_factory_keeps_the_locks_beside_that_of_redisson() {
        application()
                .withPropertyValues("syncguard.backend=redis")
                .withBean(RedissonConnectionFactory.class)
                .withUserConfiguration(Marked.class)
                .run(application -> assertLocksIn(locks, application));
    }

    @Test
    void a_marked_connection_factory_may_be_the_only_one() {
        application()
                .withPropertyValues("syncguard.backend=redis")
                .withUserConfiguration(Marked.class)
                .run(application -> assertLocksIn(locks, application));
    }

    /** However it is declared: with the type of an interface, behind proxies, or by other beans. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                ByInterface.class,
                Lazily.class,
                ByFactoryBean.class,
                Subclass.class,
                FromAnyConfiguration.class,
                Pooled.class,
                NotStarted.class,
                Refreshed.class,
                RefreshedByInterface.class,
                Proxied.class,
                MarkedByInterface.class,
                MarkedReactive.class,
                PrimaryByInterface.class
            })
    void a_connection_factory_is_found_however_it_is_declared(Class<?> configuration) {
        application()
                .withInitializer(LockConnectionFactoryTests::addRefreshScope)
                .withUserConfiguration(configuration)
                .run(application -> assertLocksIn(locks, application));
    }

    @Test
    void the_connection_factory_of_a_parent_context_keeps_the_locks() {
        new ApplicationContextRunner()
                .withPropertyValues("locks.url=" + locks.url())
                .withUserConfiguration(ByInterface.class)
                .run(parent -> application().withParent(parent).run(application -> assertLocksIn(locks, application)));
    }

    @Test
    void a_marked_connection_factory_keeps_the_locks_also_beside_a_data_source() {
        Applications.on(TestDatabase.empty().url())
                .withPropertyValues("locks.url=" + locks.url())
                .withUserConfiguration(Marked.class)
                .run(application -> assertLocksIn(locks, application));
    }

    @Test
    void a_marked_data_source_keeps_the_locks_also_beside_a_connection_factory() {
        TestDatabase database = TestDatabase.empty();
        application()
                .withPropertyValues("marked.url=" + database.url())
                .withUserConfiguration(ByInterface.class, MarkedDataSource.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    boolean isLocked = application
                            .getBean(LockTemplate.class)
                            .execute("order:42", lock -> database.lockedKeys().contains("order:42"));
                    assertThat(isLocked).isTrue();
                });
    }

    @Test
    void a_mark_that_the_property_overrules_is_warned_of() {
        TestDatabase database = TestDatabase.empty();
        ApplicationContextRunner both = Applications.on(database.url())
                .withPropertyValues("locks.url=" + locks.url(), "marked.url=" + database.url())
                .withUserConfiguration(Marked.class, MarkedDataSource.class);
        Map.of(
                        "redis",
                        "Locks are not stored in [lockDataSource], which is marked with @SyncGuardDataSource",
                        "postgres",
                        "Locks are not stored in [lockConnections], which is marked with"
                                + " @SyncGuardRedisConnectionFactory")
                .forEach((backend, warning) -> {
                    try (CapturedLog log = new CapturedLog()) {
                        both.withPropertyValues("syncguard.backend=" + backend)
                                .run(application -> assertThat(application).hasNotFailed());

                        assertThat(String.join("", log.messages())).contains(warning);
                    }
                });
    }

    /** What is there, and why it cannot store locks. */
    @ParameterizedTest
    @MethodSource
    void another_connection_factory_is_refused_by_name_and_class(Class<?> configuration, List<String> reason) {
        application()
                .withUserConfiguration(configuration)
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .message()
                        .contains(reason));
    }

    static Stream<Arguments> another_connection_factory_is_refused_by_name_and_class() {
        return Stream.of(
                arguments(OfJedis.class, List.of("'jedis'", "JedisConnectionFactory", "client-type=lettuce")),
                arguments(PrimaryOfJedis.class, List.of("'jedis'", "JedisConnectionFactory")),
                arguments(Wrapped.class, List.of("'wrapped'", "$Wrapper", "@SyncGuardRedisConnectionFactory")),
                arguments(MarkedOfJedis.class, List.of("'jedis'", "JedisConnectionFactory")),
                arguments(Mocked.class, List.of("'mock'", "MockitoMock", "@AutoConfigureTestLocks")),
                arguments(MockOfLettuce.class, List.of("'mock'", "is a mock", "@AutoConfigureTestLocks")),
                arguments(OpaqueProxy.class, List.of("a proxy that hides its target")),
                arguments(MasterReplica.class, List.of("RedisStaticMasterReplicaConfiguration")),
                arguments(MarkedElsewhere.class, List.of("'template'", "StringRedisTemplate", "marked")));
    }

    @Test
    void two_marks_need_the_property() {
        application()
                .withPropertyValues("marked.url=jdbc:postgresql://127.0.0.1:1/none")
                .withUserConfiguration(Marked.class, MarkedDataSource.class)
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .hasMessageContainingAll("lockDataSource", "@SyncGuardDataSource", "syncguard.backend"));
    }

    @Test
    void the_primary_one_of_several_keeps_the_locks() {
        application().withUserConfiguration(Several.class, First.class).run(application -> {
            assertLocksIn(locks, application);
            assertThat(orders.commands().keys("*")).isEmpty();
        });
    }

    @Test
    void the_start_fails_when_several_are_there_and_none_is_marked() {
        application()
                .withPropertyValues("syncguard.backend=redis")
                .withUserConfiguration(Several.class)
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasStackTraceContaining("customersConnections, ordersConnections")
                        .hasStackTraceContaining("Mark one of them with @SyncGuardRedisConnectionFactory"));
    }

    private static ApplicationContextRunner application() {
        return Applications.withoutBoot().withPropertyValues("orders.url=" + orders.url(), "locks.url=" + locks.url());
    }

    private static void assertLocksIn(OwnRedis redis, AssertableApplicationContext application) {
        assertThat(application).hasNotFailed();
        application
                .getBean(LockTemplate.class)
                .executeWithoutResult(
                        LockRequest.of("order:42"),
                        lock -> assertThat(redis.commands().keys("*")).contains("{syncguard}:lock:order:42"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Marked {

        // sample: lock-connections
        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        LettuceConnectionFactory lockConnections(@Value("${locks.url}") String url) {
            return new LettuceConnectionFactory(LettuceConnectionFactory.createRedisConfiguration(url));
        }
        // end
    }

    @Configuration(proxyBeanMethods = false)
    static class Several {

        @Bean
        LettuceConnectionFactory ordersConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("orders.url"));
        }

        @Bean
        LettuceConnectionFactory customersConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("orders.url"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class First {

        @Bean
        @Primary
        LettuceConnectionFactory primaryConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("locks.url"));
        }
    }

    /** Registers a scope as Spring Cloud does, without Spring Cloud. */
    private static void addRefreshScope(ConfigurableApplicationContext application) {
        application.getBeanFactory().registerScope("refresh", new SimpleThreadScope());
    }

    private static LettuceConnectionFactory toLocks(Environment environment) {
        return RedisServer.connections(environment.getRequiredProperty("locks.url"));
    }

    @Configuration(proxyBeanMethods = false)
    static class ByInterface {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Lazily {

        @Bean
        @Lazy
        RedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ByFactoryBean {

        @Bean
        FactoryBean<RedisConnectionFactory> lockConnections(Environment environment) {
            LettuceConnectionFactory made = toLocks(environment);
            return new FactoryBean<>() {
                @Override
                public RedisConnectionFactory getObject() {
                    return made;
                }

                @Override
                public Class<?> getObjectType() {
                    return RedisConnectionFactory.class;
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Subclass {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            return new LettuceConnectionFactory(toLocks(environment).getStandaloneConfiguration()) {};
        }
    }

    /** Its getters answer localhost. */
    @Configuration(proxyBeanMethods = false)
    static class FromAnyConfiguration {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            return new LettuceConnectionFactory(
                    LettuceConnectionFactory.createRedisConfiguration(environment.getRequiredProperty("locks.url")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Pooled {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            LettuceConnectionFactory factory = new LettuceConnectionFactory(
                    toLocks(environment).getStandaloneConfiguration(),
                    LettucePoolingClientConfiguration.builder().build());
            factory.setShareNativeConnection(false);
            return factory;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotStarted {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            LettuceConnectionFactory factory = toLocks(environment);
            factory.setAutoStartup(false);
            factory.setEarlyStartup(false);
            return factory;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Refreshed {

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        LettuceConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RefreshedByInterface {

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.INTERFACES)
        RedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    /** In a proxy around a proxy. */
    @Configuration(proxyBeanMethods = false)
    static class Proxied {

        @Bean
        RedisConnectionFactory lockConnections(Environment environment) {
            ProxyFactory byClass = new ProxyFactory(toLocks(environment));
            byClass.setProxyTargetClass(true);
            return (RedisConnectionFactory) new ProxyFactory(byClass.getProxy()).getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedByInterface {

        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        RedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }

        @Bean
        RedisConnectionFactory ordersConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("orders.url"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedReactive {

        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        ReactiveRedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryByInterface {

        @Bean
        @Primary
        RedisConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }

        @Bean
        LettuceConnectionFactory ordersConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("orders.url"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedDataSource {

        @Bean(defaultCandidate = false)
        @SyncGuardDataSource
        DataSource lockDataSource(Environment environment) {
            return PostgresServer.dataSource(environment.getRequiredProperty("marked.url"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OfJedis {

        @Bean
        RedisConnectionFactory jedis() {
            return new JedisConnectionFactory();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryOfJedis {

        @Bean
        @Primary
        RedisConnectionFactory jedis() {
            return new JedisConnectionFactory();
        }

        @Bean
        LettuceConnectionFactory lockConnections(Environment environment) {
            return toLocks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedOfJedis {

        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        RedisConnectionFactory jedis() {
            return new JedisConnectionFactory();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Wrapped {

        @Bean
        RedisConnectionFactory wrapped(Environment environment) {
            return new Wrapper(toLocks(environment));
        }
    }

    /** Wraps the factory as a library that measures does. */
    private record Wrapper(RedisConnectionFactory target) implements RedisConnectionFactory {

        @Override
        public RedisConnection getConnection() {
            return target.getConnection();
        }

        @Override
        public RedisClusterConnection getClusterConnection() {
            return target.getClusterConnection();
        }

        @Override
        public RedisSentinelConnection getSentinelConnection() {
            return target.getSentinelConnection();
        }

        @Override
        public boolean getConvertPipelineAndTxResults() {
            return target.getConvertPipelineAndTxResults();
        }

        @Override
        public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
            return target.translateExceptionIfPossible(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Mocked {

        @Bean
        RedisConnectionFactory mock() {
            return Mockito.mock(RedisConnectionFactory.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MockOfLettuce {

        @Bean
        RedisConnectionFactory mock() {
            return Mockito.mock(LettuceConnectionFactory.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OpaqueProxy {

        @Bean
        RedisConnectionFactory opaque(Environment environment) {
            ProxyFactory proxy = new ProxyFactory(toLocks(environment));
            proxy.setProxyTargetClass(true);
            proxy.setOpaque(true);
            return (RedisConnectionFactory) proxy.getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MasterReplica {

        @Bean
        RedisConnectionFactory nodes() {
            return new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("127.0.0.1", 1));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedElsewhere {

        @Bean
        RedisConnectionFactory ordersConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("orders.url"));
        }

        @Bean
        @SyncGuardRedisConnectionFactory
        StringRedisTemplate template(RedisConnectionFactory connections) {
            return new StringRedisTemplate(connections);
        }
    }
}
