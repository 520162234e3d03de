package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
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
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
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
    void a_marked_connection_factory_may_be_the_only_one() {
        application()
                .withPropertyValues("syncguard.backend=redis")
                .withUserConfiguration(Marked.class)
                .run(application -> assertLocksIn(locks, application));
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

        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        LettuceConnectionFactory lockConnections(Environment environment) {
            return RedisServer.connections(environment.getRequiredProperty("locks.url"));
        }
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
}
