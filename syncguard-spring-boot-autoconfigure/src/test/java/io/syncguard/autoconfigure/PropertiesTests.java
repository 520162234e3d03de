package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.CommitGuard;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.spi.FenceSource;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.transaction.interceptor.BeanFactoryTransactionAttributeSourceAdvisor;

class PropertiesTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @Test
    void every_property_is_bound() {
        Applications.on(database.url())
                .withPropertyValues(
                        "syncguard.enabled=true",
                        "syncguard.backend=postgres",
                        "syncguard.ttl=11s",
                        "syncguard.wait-time=12s",
                        "syncguard.owner=somebody",
                        "syncguard.shutdown-timeout=130ms",
                        "syncguard.leak-detection-threshold=131m",
                        "syncguard.aop.order=16",
                        "syncguard.aop.max-keys=3",
                        "syncguard.reactive.max-waiting=18",
                        "syncguard.postgres.locks-table=bound_locks",
                        "syncguard.postgres.fence-counters-table=bound_counters",
                        "syncguard.postgres.schema-management=initialize",
                        "syncguard.postgres.schema-script=target/bound_schema.sql",
                        "syncguard.postgres.pool-size=17",
                        "syncguard.fences=clock",
                        "syncguard.fence-retention=8d",
                        "syncguard.postgres.network-timeout=1800ms",
                        "syncguard.postgres.notify=false",
                        "syncguard.postgres.cleanup-interval=19m",
                        "syncguard.postgres.cleanup-in-is-locked=true",
                        "syncguard.jdbc.table-prefix=bound_",
                        "syncguard.jdbc.schema-management=none",
                        "syncguard.jdbc.schema-script=target/bound_tables.sql",
                        "syncguard.jdbc.pool-size=37",
                        "syncguard.jdbc.network-timeout=3800ms",
                        "syncguard.jdbc.cleanup-interval=39m",
                        "syncguard.redis.key-prefix={bound}:",
                        "syncguard.redis.shards=7",
                        "syncguard.redis.network-timeout=20ms",
                        "syncguard.fencing.enabled=true",
                        "syncguard.fencing.table=bound_fences",
                        "syncguard.fencing.schema-management=initialize",
                        "syncguard.web.problem-details=false",
                        "syncguard.console.enabled=true",
                        "syncguard.shedlock.enabled=true",
                        "syncguard.integration.enabled=true",
                        "syncguard.leader.elections.scheduler.ttl=21s",
                        "syncguard.leader.elections.scheduler.heartbeat=2200ms",
                        "syncguard.leader.elections.scheduler.fence-rotation=2300ms",
                        "syncguard.leader.elections.scheduler.owner=node-24",
                        "syncguard.commit-guard=required",
                        "syncguard.leader.elections.scheduler.auto-startup=false",
                        "syncguard.leader.elections.scheduler.lock-manager=syncGuardLockManager",
                        "syncguard.locks.order.ttl=31s",
                        "syncguard.locks.order.wait-time=32s",
                        "syncguard.locks.order.on-contention=skip",
                        "syncguard.locks.order.heartbeat=true",
                        "syncguard.locks.order.heartbeat-interval=3300ms",
                        "syncguard.locks.order.on-lost=notify",
                        "syncguard.locks.order.hold-at-least=34s",
                        "syncguard.locks.order.hold-at-most=35s",
                        "syncguard.locks.order.commit-guard=off",
                        "syncguard.locks.order.permits=36")
                .run(application -> {
                    assertThat(application.getBean(LocksProperties.class))
                            .isEqualTo(new LocksProperties(Map.of(
                                    "order",
                                    new LockSettings(
                                            Duration.ofSeconds(31),
                                            Duration.ofSeconds(32),
                                            OnContention.SKIP,
                                            true,
                                            Duration.ofMillis(3300),
                                            OnLost.NOTIFY,
                                            Duration.ofSeconds(34),
                                            Duration.ofSeconds(35),
                                            CommitGuard.OFF,
                                            36))));
                    assertThat(application.getBean(SyncGuardProperties.class))
                            .isEqualTo(new SyncGuardProperties(
                                    true,
                                    List.of("postgres"),
                                    Duration.ofSeconds(11),
                                    Duration.ofSeconds(12),
                                    "somebody",
                                    CommitGuard.REQUIRED,
                                    Duration.ofMillis(130),
                                    Duration.ofMinutes(131),
                                    FenceSource.CLOCK,
                                    Duration.ofDays(8),
                                    new SyncGuardProperties.Aop(16, 3),
                                    new SyncGuardProperties.Reactive(18),
                                    new SyncGuardProperties.Postgres(
                                            "bound_locks",
                                            "bound_counters",
                                            SchemaManagement.INITIALIZE,
                                            new File("target/bound_schema.sql"),
                                            17,
                                            Duration.ofMillis(1800),
                                            false,
                                            Duration.ofMinutes(19),
                                            true),
                                    new SyncGuardProperties.Jdbc(
                                            "bound_",
                                            SchemaManagement.NONE,
                                            new File("target/bound_tables.sql"),
                                            37,
                                            Duration.ofMillis(3800),
                                            Duration.ofMinutes(39)),
                                    new SyncGuardProperties.Redis("{bound}:", 7, Duration.ofMillis(20)),
                                    new SyncGuardProperties.Fencing(true, "bound_fences", SchemaManagement.INITIALIZE),
                                    new SyncGuardProperties.Web(false),
                                    new SyncGuardProperties.Console(true, null, null),
                                    new SyncGuardProperties.Leader(Map.of(
                                            "scheduler",
                                            new ElectionProperties(
                                                    Duration.ofSeconds(21),
                                                    Duration.ofMillis(2200),
                                                    Duration.ofMillis(2300),
                                                    "node-24",
                                                    false,
                                                    "syncGuardLockManager"))),
                                    new SyncGuardProperties.Shedlock(true),
                                    new SyncGuardProperties.Integration(true)));
                    assertThat(application.getBean(DistributedLockAdvisor.class).getOrder())
                            .isEqualTo(16);
                });
    }

    @Test
    void the_advisor_stands_before_that_of_transactions_when_nobody_says_otherwise() {
        Applications.on(database.url())
                .run(application -> assertThat(application
                                .getBean(DistributedLockAdvisor.class)
                                .getOrder())
                        .isLessThan(application
                                .getBean(BeanFactoryTransactionAttributeSourceAdvisor.class)
                                .getOrder()));
    }

    @Test
    void ttl_and_owner_are_those_of_the_lock() {
        Applications.on(database.url())
                .withPropertyValues("syncguard.ttl=11s", "syncguard.owner=somebody", "syncguard.shutdown-timeout=10ms")
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    locks.acquire(LockRequest.of("order:1"));
                    assertThat(locks.admin().lookup("order:1")).hasValueSatisfying(info -> {
                        assertThat(info.owner()).isEqualTo("somebody");
                        assertThat(Duration.between(info.acquiredAt(), info.expiresAt()))
                                .isEqualTo(Duration.ofSeconds(11));
                    });
                });
    }

    @Test
    void an_owner_that_is_left_out_is_the_application_and_its_process() {
        Applications.on(database.url())
                .withPropertyValues("spring.application.name=shop", "syncguard.shutdown-timeout=10ms")
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    locks.acquire(LockRequest.of("order:2"));
                    assertThat(locks.admin().lookup("order:2"))
                            .hasValueSatisfying(info -> assertThat(info.owner())
                                    .startsWith(
                                            "shop@" + ProcessHandle.current().pid()));
                });
    }

    @ParameterizedTest
    @CsvSource({
        "syncguard.ttl, 0s",
        "syncguard.ttl, -1s",
        "syncguard.ttl, 366d",
        "syncguard.ttl, soon",
        "syncguard.wait-time, -1s",
        "syncguard.shutdown-timeout, -1s",
        "syncguard.postgres.pool-size, 0",
        "syncguard.postgres.pool-size, -1",
        "syncguard.postgres.network-timeout, 499ms",
        "syncguard.postgres.network-timeout, 0s",
        "syncguard.postgres.network-timeout, -5s",
        "syncguard.postgres.network-timeout, 60d",
        "syncguard.postgres.cleanup-interval, 59s",
        "syncguard.postgres.cleanup-interval, -1m",
        "syncguard.postgres.cleanup-interval, 366d",
        "syncguard.postgres.schema-management, sometimes",
        "syncguard.postgres.locks-table, ''"
    })
    void a_value_that_makes_no_sense_fails_the_start_and_is_named(String property, String value) {
        Applications.on(database.url())
                .withPropertyValues(property + "=" + value)
                .run(application -> assertThat(application).getFailure().hasStackTraceContaining(property));
    }
}
