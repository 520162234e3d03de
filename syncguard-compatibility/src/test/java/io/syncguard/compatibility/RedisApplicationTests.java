package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderElection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

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
                    .until(() -> locks.status("order:42").orElseThrow().waiters() == 1);
            held.release();

            assertThat(waiter.join().fence()).isGreaterThan(held.fence());
            waiter.join().release();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> application.getBean(LeaderElection.class).isLeader("settlement"));
        }
    }

    private static ConfigurableApplicationContext start(OwnRedis redis) {
        return new SpringApplicationBuilder(WithoutDatabase.class)
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

    static class Job {

        @DistributedLock(name = "job", key = "#name")
        public boolean run(String name) {
            return LockHandle.current().isPresent();
        }
    }
}
