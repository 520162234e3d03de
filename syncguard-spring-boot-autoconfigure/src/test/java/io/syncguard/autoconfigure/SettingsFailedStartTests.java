package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.testing.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a person reads if a property has a value that it must not have. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class SettingsFailedStartTests {

    private static final String URL = PostgresServer.newDatabaseUrl();

    private final FailedStart start;

    SettingsFailedStartTests(CapturedOutput output) {
        this.start = new FailedStart(output).with("spring.datasource.url=" + URL);
    }

    @ParameterizedTest
    @CsvSource({
        "syncguard.ttl=0s, ttl",
        "syncguard.ttl=soon, ttl-unreadable",
        "syncguard.ttl=30, ttl-without-unit",
        "syncguard.locks.order.ttl=30, lock-ttl-without-unit",
        "syncguard.wait-time=-1s, wait-time",
        "syncguard.shutdown-timeout=-1s, shutdown-timeout",
        "syncguard.leak-detection-threshold=-1s, leak-detection-threshold",
        "syncguard.fence-retention=23h, fence-retention",
        "syncguard.commit-guard=default, commit-guard",
        "syncguard.backend=mysql, backend",
        "syncguard.aop.order=first, aop-order",
        "syncguard.aop.max-keys=1001, max-keys",
        "syncguard.reactive.max-waiting=0, max-waiting",
        "syncguard.postgres.pool-size=0, pool-size",
        "syncguard.postgres.network-timeout=60d, network-timeout",
        "syncguard.postgres.cleanup-interval=59s, cleanup-interval",
        "syncguard.postgres.schema-management=sometimes, schema-management",
        "syncguard.postgres.schema-script=/nowhere/schema.sql, schema-script",
        "syncguard.postgres.locks-table=my-locks, table-name",
        "syncguard.postgres.locks-table=pg_locks, table-name-reserved",
        "syncguard.postgres.fence-counters-table=public.syncguard_locks, table-name-twice",
        "syncguard.leader.elections.settlement.ttl=1ms, leader-ttl",
        "syncguard.leader.elections.settlement.heartbeat=10s, leader-heartbeat",
        "syncguard.leader.elections.settlement.fence-rotation=10s, leader-rotation",
        "syncguard.leader.elections.settlement.lock-manager=redis, leader-manager",
        "syncguard.leader.elections.settlement.ttl=30 secs, leader-unreadable",
        "syncguard.console.owner-link=logs.example.com/{owner}, console-link",
        "syncguard.console.trace-link=https://traces.example.com/, console-link-without-id",
        "syncguard.ttl=1500us, ttl-fraction",
        "syncguard.backend=postgress, backend-typo",
        "syncguard.fences=clok, fences",
        "syncguard.postgres.notify=perhaps, notify",
        "syncguard.enabled=yes, enabled",
        "syncguard.aop.max-keys=many, max-keys-unreadable",
        "syncguard.locks.order.ttl=0s, lock-ttl",
        "syncguard.locks.order.ttl=soon, lock-ttl-unreadable",
        "syncguard.locks.order.permits=0, lock-permits",
        "syncguard.locks.order.permits=, lock-permits-blank",
        "syncguard.locks.order.permits=${ORDER_PERMITS:}, lock-permits-blank",
        "syncguard.locks.order.permits=many, lock-permits-unreadable",
        "syncguard.locks.order.on-contention=wait, lock-on-contention",
        "syncguard.locks[shop.order].wait-time=-1s, lock-wait-time",
        "syncguard.locks.shop.order.ttl=9s, lock-name-brackets",
        "syncguard.locks.order.tll=9s, lock-setting"
    })
    void a_wrong_value(String property, String file) {
        start.with(Orders.class).with(property).reads(file);
    }

    @Test
    void a_setting_of_a_lock_that_contradicts_an_annotation() {
        start.with(Orders.class)
                .with("syncguard.locks.order.hold-at-most=100ms")
                .reads("lock-contradiction");
    }

    @ParameterizedTest
    @CsvSource({"syncguard.redis.shards=0, shards", "syncguard.redis.network-timeout=1ms, redis-network-timeout"})
    void a_wrong_value_for_redis(String property, String file) {
        start.with("syncguard.backend=redis", property).reads(file);
    }

    @Test
    void an_owner_that_is_too_long() {
        start.with("syncguard.owner=" + "x".repeat(513)).reads("owner");
    }

    @Test
    void a_name_of_the_application_that_is_too_long_for_the_owner() {
        start.with("spring.application.name=" + "x".repeat(600))
                .whereasMatches("this one has \\d+", "this one has <number>")
                .reads("owner-by-application-name");
    }

    @Test
    void a_prefix_of_keys_with_a_placeholder_that_nothing_resolves() {
        start.with("syncguard.redis.key-prefix={${tenant}}").reads("unresolved-prefix");
    }

    @Test
    void a_secret_that_is_too_short() {
        start.with("management.endpoints.web.exposure.include=syncguard")
                .with("management.endpoint.syncguard.hash-secret=secret")
                .reads("hash-secret");
    }

    @Test
    void fencing_with_a_wrong_name_of_the_table() {
        start.with("syncguard.fencing.enabled=true", "syncguard.fencing.table=my-fences")
                .reads("fencing-table");
    }

    @Test
    void fencing_without_a_database() {
        start.with("syncguard.enabled=false", "syncguard.fencing.enabled=true", FailedStart.NO_DATA_SOURCE)
                .reads("fencing-no-data-source");
    }

    @Test
    void fencing_with_two_databases() {
        start.with(PostgresFailedStartTests.TwoDataSources.class)
                .with("syncguard.enabled=false", "syncguard.fencing.enabled=true")
                .reads("fencing-two-data-sources");
    }

    @Test
    void fencing_on_a_database_without_the_table() {
        start.with("syncguard.fencing.enabled=true", "syncguard.fencing.schema-management=none")
                .reads("fencing-no-table");
    }

    @Test
    void fencing_as_a_user_who_may_not_create_the_table() {
        TestDatabase database = TestDatabase.empty();
        start.with(database.loginOf(database.newRole()))
                .with("syncguard.enabled=false", "syncguard.fencing.enabled=true")
                .reads("fencing-no-right");
    }

    @Test
    void fencing_on_a_server_that_is_down() {
        start.with(
                        "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/shop",
                        "spring.datasource.hikari.connection-timeout=500",
                        "syncguard.enabled=false",
                        "syncguard.fencing.enabled=true")
                .reads("fencing-server-down");
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#id", holdAtLeast = "1s")
        public void submit(String id) {}
    }
}
