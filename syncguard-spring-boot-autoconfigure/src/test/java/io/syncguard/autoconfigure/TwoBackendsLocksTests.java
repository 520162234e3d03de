package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Locks of one application on two backends are independent, except that both end with the application. */
@Timeout(120)
class TwoBackendsLocksTests {

    private static final Executor IN_A_THREAD = task -> new Thread(task).start();

    private static BothServers servers;

    @BeforeAll
    static void open() {
        servers = new BothServers();
    }

    @AfterAll
    static void close() {
        servers.close();
    }

    @Test
    void an_annotation_locks_where_it_says_and_on_the_primary_one_where_it_says_nothing() {
        both().run(application -> {
            Orders orders = application.getBean(Orders.class);

            assertThat(orders.onPrimary()).containsExactly("postgres");
            assertThat(orders.onPostgres()).containsExactly("postgres");
            assertThat(orders.onRedis()).containsExactly("redis");
        });
    }

    @Test
    void a_key_that_is_held_on_one_is_not_held_on_the_other() {
        both().run(application -> {
            Locks locks = application.getBean(Locks.class);

            locks.postgres.executeWithoutResult(LockRequest.of("nested"), outer -> {
                locks.redis.executeWithoutResult(
                        LockRequest.of("nested"),
                        inner -> assertThat(servers.keepersOf("nested")).containsExactly("postgres", "redis"));
                assertThat(servers.keepersOf("nested")).containsExactly("postgres");
            });
            assertThat(servers.keepersOf("nested")).isEmpty();
        });
    }

    @Test
    void within_both_a_key_is_joined_on_its_own_backend() {
        both().run(application -> {
            Locks locks = application.getBean(Locks.class);

            assertThat(locks.postgres.<List<Boolean>, RuntimeException>execute(
                            LockRequest.of("joined"),
                            outer -> locks.redis.execute(
                                    LockRequest.of("joined"),
                                    between -> locks.postgres.execute(
                                            LockRequest.of("joined"),
                                            inner -> List.of(
                                                    inner.lockId().equals(outer.lockId()),
                                                    inner.lockId().equals(between.lockId()))))))
                    .containsExactly(true, false);
        });
    }

    @Test
    void a_shared_lock_on_one_does_not_refuse_an_exclusive_one_on_the_other() {
        both().run(application -> {
            Locks locks = application.getBean(Locks.class);

            assertThat(locks.redis.<List<String>, RuntimeException>execute(
                            LockRequest.of("shared").shared(),
                            outer -> locks.postgres.execute(
                                    LockRequest.of("shared"), inner -> servers.keepersOf("shared"))))
                    .containsExactly("postgres");
        });
    }

    @Test
    void meters_distinguish_the_backends() {
        both().withBean(MeterRegistry.class, SimpleMeterRegistry::new).run(application -> {
            application.getBean(Orders.class).onPostgres();
            application.getBean(Orders.class).onRedis();
            application.getBean(Orders.class).onRedis();

            MeterRegistry meters = application.getBean(MeterRegistry.class);
            assertThat(List.of("postgres", "redis"))
                    .extracting(backend -> meters.get("syncguard.lock.release")
                            .tags("name", "annotated", "backend", backend, "outcome", "released")
                            .counter()
                            .count())
                    .containsExactly(1.0, 2.0);
        });
    }

    @ParameterizedTest
    @CsvSource({"postgres, redis", "redis, postgres"})
    void at_the_end_neither_grants_a_lock_while_the_other_waits_for_its_bodies(String busy, String idle) {
        both().withPropertyValues("syncguard.shutdown-timeout=60s").run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            Locks locks = application.getBean(Locks.class);
            LockTemplate idleLocks = locks.of(idle);
            LockHandle body = locks.of(busy).manager().acquire(LockRequest.of("body"));

            CompletableFuture<Void> end = CompletableFuture.runAsync(application::stop, IN_A_THREAD);

            await().atMost(Duration.ofSeconds(30)).until(() -> isStopped(idleLocks.manager()));
            assertThat(body.isHeld()).isTrue();
            body.release();
            assertThat(end).succeedsWithin(Duration.ofSeconds(30));
        });
    }

    @Test
    void at_the_end_what_is_still_held_on_both_is_released() {
        both().run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            Locks locks = application.getBean(Locks.class);
            locks.postgres.manager().acquire(LockRequest.of("left"));
            locks.redis.manager().acquire(LockRequest.of("left"));
            assertThat(servers.keepersOf("left")).containsExactly("postgres", "redis");

            application.stop();

            assertThat(servers.keepersOf("left")).isEmpty();
        });
    }

    @Test
    void both_grant_locks_again_when_the_application_is_started_again() {
        both().run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            application.stop();
            application.start();

            assertThat(application.getBean(Orders.class).onPostgres()).containsExactly("postgres");
            assertThat(application.getBean(Orders.class).onRedis()).containsExactly("redis");
        });
    }

    private static boolean isStopped(LockManager locks) {
        try {
            locks.acquire(LockRequest.of("another")).close();
            return false;
        } catch (LockException ex) {
            return ex.code() == LockErrorCode.ABORTED;
        }
    }

    private static ApplicationContextRunner both() {
        return servers.with("postgres,redis").withUserConfiguration(Users.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        Locks locks(@Qualifier("postgres") LockTemplate postgres, @Qualifier("redis") LockTemplate redis) {
            return new Locks(postgres, redis);
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    record Locks(LockTemplate postgres, LockTemplate redis) {

        LockTemplate of(String backend) {
            return backend.equals("redis") ? redis : postgres;
        }
    }

    static class Orders {

        @DistributedLock(name = "annotated")
        public List<String> onPrimary() {
            return servers.keepersOf("annotated");
        }

        @DistributedLock(name = "annotated", lockManager = "postgres")
        public List<String> onPostgres() {
            return servers.keepersOf("annotated");
        }

        @DistributedLock(name = "annotated", lockManager = "redis")
        public List<String> onRedis() {
            return servers.keepersOf("annotated");
        }
    }
}
