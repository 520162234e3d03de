package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.SyncGuardRedisConnectionFactory;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderElection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An application without a database. */
class RedisApplicationTests {

    @Test
    void locks_are_stored_in_redis_where_there_is_no_data_source() {
        try (OwnRedis redis = new OwnRedis();
                ConfigurableApplicationContext application = start(redis)) {
            LockManager locks = application.getBean(LockManager.class);

            assertThat(application.getBean(Job.class).run("nightly")).isTrue();
            LockHandle held = locks.acquire(LockRequest.of("order", "42"));
            CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(
                    () -> locks.acquire(LockRequest.of("order", "42").waitTime(Duration.ofSeconds(20))));
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> locks.admin().status("order:42").orElseThrow().waiters() == 1);
            held.release();

            assertThat(waiter.join().fence()).isGreaterThan(held.fence());
            waiter.join().release();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> application.getBean(LeaderElection.class).isLeader("settlement"));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {ByInterface.class, InScope.class, Marked.class})
    void a_connection_factory_is_found_however_it_is_declared(Class<?> configuration) {
        try (OwnRedis redis = new OwnRedis();
                ConfigurableApplicationContext application = start(redis, configuration)) {
            LockHandle held = application.getBean(LockManager.class).acquire(LockRequest.of("order", "42"));

            assertThat(redis.commands().keys("*")).contains("{syncguard}:lock:order:42");
            held.release();
        }
    }

    private static ConfigurableApplicationContext start(OwnRedis redis, Class<?>... more) {
        return new SpringApplicationBuilder(WithoutDatabase.class)
                .sources(more)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.data.redis.url=" + redis.url(),
                        "syncguard.leader.elections.settlement.ttl=5s",
                        "spring.autoconfigure.exclude=" + BootVersion.dataSourceAutoConfiguration())
                .run();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Job.class)
    static class WithoutDatabase {}

    @Configuration(proxyBeanMethods = false)
    static class ByInterface {

        @Bean
        RedisConnectionFactory locks(Environment environment) {
            String url = environment.getRequiredProperty("spring.data.redis.url");
            return new LettuceConnectionFactory(LettuceConnectionFactory.createRedisConfiguration(url));
        }
    }

    /** A scope as {@code @RefreshScope} has it. */
    @Configuration(proxyBeanMethods = false)
    static class InScope {

        @Bean
        static CustomScopeConfigurer scope() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("refresh", new SimpleThreadScope());
            return scopes;
        }

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        LettuceConnectionFactory locks(Environment environment) {
            return (LettuceConnectionFactory) new ByInterface().locks(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Marked {

        @Bean(defaultCandidate = false)
        @SyncGuardRedisConnectionFactory
        RedisConnectionFactory locks(Environment environment) {
            return new ByInterface().locks(environment);
        }
    }

    static class Job {

        @DistributedLock(name = "job", key = "#name")
        public boolean run(String name) {
            return LockHandle.current().isPresent();
        }
    }
}
