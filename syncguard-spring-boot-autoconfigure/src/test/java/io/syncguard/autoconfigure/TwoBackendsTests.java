package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.RedisClient;
import io.syncguard.BackendInfo;
import io.syncguard.LockAdmin;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.actuate.LockDescriptor;
import io.syncguard.actuate.LockHealthIndicator;
import io.syncguard.actuate.LocksDescriptor;
import io.syncguard.actuate.SyncGuardEndpoint;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.LockBackend;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Both backends in one application: which of them a manager or an annotation uses, and when the start fails. */
class TwoBackendsTests {

    private static BothServers servers;

    @BeforeAll
    static void open() {
        servers = new BothServers();
    }

    @AfterAll
    static void close() {
        servers.close();
    }

    @ParameterizedTest
    @CsvSource({"'postgres,redis', postgres", "'redis,postgres', redis"})
    void the_first_that_is_named_is_meant_by_who_names_none(String named, String primary) {
        servers.with(named).withUserConfiguration(Users.class).run(application -> {
            assertThat(keepers(application.getBean(Unqualified.class).template(), "order:1"))
                    .containsExactly(primary);
            assertThat(keepers(
                            new LockTemplate(
                                    application.getBean(Unqualified.class).manager()),
                            "order:1"))
                    .containsExactly(primary);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres,redis", "redis,postgres"})
    void each_is_injected_by_its_name_whichever_is_the_primary_one(String named) {
        servers.with(named).withUserConfiguration(Users.class).run(application -> {
            Qualified qualified = application.getBean(Qualified.class);

            assertThat(keepers(qualified.postgres(), "order:2")).containsExactly("postgres");
            assertThat(keepers(qualified.redis(), "order:2")).containsExactly("redis");
            assertThat(qualified.postgres().manager()).isSameAs(qualified.postgresManager());
            assertThat(qualified.redis().manager()).isSameAs(qualified.redisManager());
            assertThat(qualified.postgresAdmin().backend().name()).isEqualTo("postgres");
            assertThat(qualified.redisAdmin().backend().name()).isEqualTo("redis");
        });
    }

    @ParameterizedTest
    @CsvSource({"'postgres,redis', postgres", "'redis,postgres', redis"})
    void a_look_up_by_type_finds_the_primary_one(String named, String primary) {
        servers.with(named).run(application -> {
            assertThat(keepers(application.getBean(LockTemplate.class), "order:3"))
                    .containsExactly(primary);
            assertThat(application.getBean(LockTemplate.class).manager())
                    .isSameAs(application.getBean(LockManager.class));
            assertThat(application.getBean(LockBackend.class).info().name()).isEqualTo(primary);
            BackendInfo expected = new BackendInfo(primary, true, BackendInfo.Clock.SERVER);
            assertThat(application.getBean(LockManager.class).admin().backend()).isEqualTo(expected);
            assertThat(LockManager.routing(() -> application.getBean(LockManager.class))
                            .admin()
                            .backend())
                    .isEqualTo(expected);
            assertThat(application.getBean(LockAdmin.class).backend()).isEqualTo(expected);
        });
    }

    @ParameterizedTest
    @CsvSource({"'postgres,redis', postgres, redis", "'redis,postgres', redis, postgres"})
    void the_actuator_shows_both_and_asks_the_primary_one_unless_another_is_named(
            String named, String primary, String other) {
        servers.with(named)
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=syncguard",
                        "management.endpoint.syncguard.show-values=always")
                .withUserConfiguration(Users.class)
                .run(application -> {
                    SyncGuardEndpoint endpoint = application.getBean(SyncGuardEndpoint.class);
                    Map<String, LocksDescriptor.Manager> managers = endpoint.locks(
                                    null, null, null, null, null, null, null, null, null)
                            .managers();
                    assertThat(managers.get(primary).process().backend()).isEqualTo(primary);
                    assertThat(managers.get(other).process().backend()).isEqualTo(other);
                    assertThat(application
                                    .getBean(LockHealthIndicator.class)
                                    .health()
                                    .getDetails())
                            .containsOnlyKeys(primary, other);

                    try (LockHandle lock =
                            application.getBean(LockManager.class).acquire(LockRequest.of("order:9"))) {
                        assertThat(endpoint.lock("order:9", null).holders())
                                .extracting(LockDescriptor.Holder::fence)
                                .containsExactly(lock.fence().value());
                        assertThat(endpoint.lock("order:9", other)).isNull();
                    }
                });
    }

    @Test
    void the_list_may_be_one_of_yaml() {
        servers.unspecified()
                .withPropertyValues("syncguard.backend[0]=redis", "syncguard.backend[1]=postgres")
                .withUserConfiguration(Users.class)
                .run(application -> assertThat(
                                keepers(application.getBean(Unqualified.class).template(), "order:4"))
                        .containsExactly("redis"));
    }

    @Test
    void a_backend_that_is_named_twice_counts_once() {
        servers.with("redis,redis,postgres")
                .run(application -> assertThat(keepers(qualified(application, "postgres"), "order:5"))
                        .containsExactly("postgres"));
    }

    @Test
    void beans_of_a_backend_that_is_alone_are_injected_by_their_own_names() {
        servers.with("redis").withUserConfiguration(ByBeanName.class).run(application -> {
            assertThat(application.getBeansOfType(LockManager.class)).hasSize(1);
            assertThat(application.getBean(Unqualified.class).template())
                    .isSameAs(application.getBean(LockTemplate.class));
        });
    }

    @Test
    void a_manager_of_the_application_replaces_the_primary_one_alone() {
        servers.with("postgres,redis").withUserConfiguration(OwnManager.class).run(application -> {
            assertThat(application.getBean(LockTemplate.class).manager()).isSameAs(application.getBean("ownManager"));
            assertThat(keepers(qualified(application, "redis"), "order:6")).containsExactly("redis");
        });
    }

    @Test
    void one_that_is_named_and_not_there_fails_the_start() {
        servers.with("postgres,redis")
                .withClassLoader(new FilteredClassLoader(RedisClient.class))
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasMessageContainingAll("syncguard.backend", "'redis'", "spring-boot-starter-data-redis"));
    }

    @Test
    void the_application_starts_and_locks_in_postgres_while_redis_is_away() {
        OwnRedis redis = new OwnRedis();
        redis.stop();

        servers.on(redis.url())
                .withPropertyValues("syncguard.backend=redis,postgres")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThatExceptionOfType(LockException.class)
                            .isThrownBy(() -> keepers(application.getBean(LockTemplate.class), "order:7"))
                            .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
                    assertThat(keepers(qualified(application, "postgres"), "order:7"))
                            .containsExactly("postgres");
                });
    }

    private static List<String> keepers(LockTemplate locks, String key) {
        return locks.execute(LockRequest.of(key), lock -> servers.keepersOf(key));
    }

    private static LockTemplate qualified(AssertableApplicationContext application, String name) {
        return BeanFactoryAnnotationUtils.qualifiedBeanOfType(application.getBeanFactory(), LockTemplate.class, name);
    }

    record Unqualified(LockTemplate template, LockManager manager) {}

    record Qualified(
            LockTemplate postgres,
            LockTemplate redis,
            LockManager postgresManager,
            LockManager redisManager,
            LockAdmin postgresAdmin,
            LockAdmin redisAdmin) {}

    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        Unqualified unqualified(LockTemplate template, LockManager manager) {
            return new Unqualified(template, manager);
        }

        @Bean
        Qualified qualified(
                @Qualifier("postgres") LockTemplate postgres,
                @Qualifier("redis") LockTemplate redis,
                @Qualifier("postgres") LockManager postgresManager,
                @Qualifier("redis") LockManager redisManager,
                @Qualifier("postgres") LockAdmin postgresAdmin,
                @Qualifier("redis") LockAdmin redisAdmin) {
            return new Qualified(postgres, redis, postgresManager, redisManager, postgresAdmin, redisAdmin);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ByBeanName {

        @Bean
        Unqualified byBeanName(
                @Qualifier("syncGuardLockTemplate") LockTemplate template,
                @Qualifier("syncGuardLockManager") LockManager manager) {
            return new Unqualified(template, manager);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnManager {

        @Bean
        LockManager ownManager(LockBackend backend) {
            return new LockEngine(backend, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
        }
    }
}
