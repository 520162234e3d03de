package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.embedded.OwnSentinel;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Locks work again soon after a replica has become the master, whatever the driver's version does by default. */
@Tag("verification")
class RedisFailoverTests {

    /** The aim is three seconds. Older drivers needed more than a minute. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    @Test
    void locks_work_again_after_a_failover_of_a_cluster() {
        try (OwnRedisCluster cluster = new OwnRedisCluster("cluster-node-timeout 1500");
                ConfigurableApplicationContext application = start("spring.data.redis.cluster.nodes="
                        + cluster.nodes().stream()
                                .map(node -> "127.0.0.1:" + node.port())
                                .collect(Collectors.joining(",")))) {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle held = locks.acquire(LockRequest.of("held").ttl(Duration.ofMinutes(1)));
            OwnRedis master = cluster.nodeWith("{syncguard}:");
            OwnRedis replica = cluster.addReplica(master);
            assertThat(master.commands().waitForReplication(1, 30_000)).isEqualTo(1);

            master.kill();

            awaitMaster(replica);
            awaitLocks(locks);
            assertThat(held.release()).isTrue();
        }
    }

    @Test
    void locks_work_again_after_a_failover_of_sentinel() {
        try (OwnRedis master = new OwnRedis();
                OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + master.port());
                OwnSentinel sentinel = new OwnSentinel(master, 1);
                ConfigurableApplicationContext application = start(
                        "spring.data.redis.sentinel.master=" + OwnSentinel.MASTER,
                        "spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port())) {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle held = locks.acquire(LockRequest.of("held").ttl(Duration.ofMinutes(1)));
            assertThat(master.commands().waitForReplication(1, 30_000)).isEqualTo(1);

            master.kill();

            awaitMaster(replica);
            awaitLocks(locks);
            assertThat(held.release()).isTrue();
        }
    }

    private static void awaitMaster(OwnRedis replica) {
        await("the failover")
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(20))
                // A busy machine may be late with the connection that asks.
                .ignoreExceptions()
                .until(() -> replica.ask("replication").contains("role:master"));
    }

    private static void awaitLocks(LockManager locks) {
        await("a lock after the failover")
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(20))
                .ignoreExceptions()
                .until(() -> locks.acquire(LockRequest.of("next").waitTime(Duration.ZERO))
                        .release());
    }

    private static ConfigurableApplicationContext start(String... redis) {
        return new SpringApplicationBuilder(WithoutDatabase.class)
                .web(WebApplicationType.NONE)
                .properties(redis)
                .properties("spring.autoconfigure.exclude=" + BootVersion.dataSourceAutoConfiguration())
                .run();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithoutDatabase {}
}
