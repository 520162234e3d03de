package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockSetupException;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A number without a unit counts milliseconds. Whoever writes 30 often means seconds. */
class UnitlessTimeTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    PropertyPlaceholderAutoConfiguration.class,
                    SyncGuardAutoConfiguration.class,
                    SyncGuardLeaderAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new);

    @ParameterizedTest
    @CsvSource({
        "syncguard.ttl, 30",
        "syncguard.ttl, ${orders.ttl}",
        "syncguard.ttl, +30",
        "syncguard.ttl, 030",
        "syncguard.wait-time, 30",
        "syncguard.shutdown-timeout, 30",
        "syncguard.leak-detection-threshold, 30",
        "syncguard.fence-retention, 30",
        "syncguard.postgres.network-timeout, 30",
        "syncguard.postgres.cleanup-interval, 30",
        "syncguard.jdbc.network-timeout, 30",
        "syncguard.jdbc.cleanup-interval, 30",
        "syncguard.redis.network-timeout, 30",
        "syncguard.locks.order.ttl, 30",
        "syncguard.locks.order.wait-time, ${orders.ttl}",
        "syncguard.locks.order.heartbeat-interval, 30",
        "syncguard.locks.order.hold-at-least, 30",
        "syncguard.locks[shop.order].hold-at-most, 30",
        "syncguard.leader.elections.settlement.ttl, 30",
        "syncguard.leader.elections.settlement.heartbeat, 30",
        "syncguard.leader.elections.settlement.fence-rotation, 30",
    })
    void a_property_below_a_second_needs_a_unit(String property, String value) {
        application
                .withPropertyValues("orders.ttl=30", property + "=" + value)
                .run(context -> assertRefused(context, property + " is 30 without a unit. Write 30s or 30ms"));
    }

    @Test
    void so_does_a_number_of_yaml() {
        application
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("yaml", Map.of("syncguard.wait-time", 999))))
                .run(context ->
                        assertRefused(context, "syncguard.wait-time is 999 without a unit. Write 999s or 999ms"));
    }

    @Test
    void an_environment_variable_is_shown_as_its_property() {
        application
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of("SYNCGUARD_LOCKS_ORDER_HOLD_AT_LEAST", "30"))))
                .run(context -> assertRefused(
                        context, "syncguard.locks.order.hold-at-least is 30 without a unit. Write 30s or 30ms"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard.ttl=300ms",
                "syncguard.ttl=PT0.3S",
                "syncguard.ttl=30s",
                "syncguard.ttl=30000",
                "syncguard.wait-time=0",
                "syncguard.locks.order.ttl=300ms",
                "syncguard.locks.30.wait-time=0",
                "syncguard.owner=30",
                "syncguard.aop.max-keys=30"
            })
    void a_property_with_a_unit_is_meant_as_it_is_written(String property) {
        application
                .withPropertyValues(property)
                .withBean(Stock.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "Ttl, DistributedLock, ttl",
        "WaitTime, DistributedLock, waitTime",
        "HoldAtLeast, DistributedLock, holdAtLeast",
        "HoldAtMost, DistributedLock, holdAtMost",
        "Scheduled, DistributedLock, holdAtLeast",
    })
    void an_attribute_of_an_annotation_needs_a_unit_as_well(String type, String annotation, String attribute)
            throws ClassNotFoundException {
        Class<?> bean = Class.forName(getClass().getName() + "$" + type);
        application
                .withPropertyValues("orders.wait=30")
                .withBean(bean)
                .run(context -> assertRefused(
                        context,
                        "@" + annotation + " on " + bean.getName() + ".submit, attribute '" + attribute
                                + "': it is 30 without a unit. Write 30s or 30ms"));
    }

    private static void assertRefused(AssertableApplicationContext context, String message) {
        assertThat(context).hasFailed();
        assertThat(context.getStartupFailure())
                .hasStackTraceContaining(LockSetupException.class.getName() + ": " + message);
    }

    static class Ttl {

        @DistributedLock(name = "order", ttl = "30")
        public void submit() {}
    }

    static class WaitTime {

        @DistributedLock(name = "order", waitTime = "${orders.wait}")
        public void submit() {}
    }

    static class HoldAtLeast {

        @DistributedLock(name = "order", holdAtLeast = "30")
        public void submit() {}
    }

    static class HoldAtMost {

        @DistributedLock(name = "order", holdAtMost = "30")
        public void submit() {}
    }

    static class Scheduled {

        @ScheduledLock(name = "order", holdAtLeast = "30")
        public void submit() {}
    }

    static class Stock {

        @DistributedLock(name = "stock", ttl = "300ms", waitTime = "0", holdAtMost = "5000")
        public void reserve() {}
    }
}
