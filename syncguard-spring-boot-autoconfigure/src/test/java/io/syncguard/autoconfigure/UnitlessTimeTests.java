package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
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
        "syncguard.ttl=30, syncguard.ttl is 30ms",
        "syncguard.ttl=${orders.ttl}, syncguard.ttl is 30ms",
        "syncguard.wait-time=5, syncguard.wait-time is 5ms",
        "syncguard.shutdown-timeout=010, syncguard.shutdown-timeout is 10ms",
        "syncguard.leak-detection-threshold=999, syncguard.leak-detection-threshold is 999ms",
        "syncguard.locks.order.ttl=30, syncguard.locks.order.ttl is 30ms",
        "syncguard.locks.order.wait-time=${orders.ttl}, syncguard.locks.order.wait-time is 30ms",
        "syncguard.locks[shop.order].hold-at-most=90, syncguard.locks[shop.order].hold-at-most is 90ms",
        "syncguard.leader.elections.settlement.ttl=15, syncguard.leader.elections.settlement.ttl is 15ms",
        "syncguard.leader.elections.settlement.heartbeat=5, syncguard.leader.elections.settlement.heartbeat is 5ms",
    })
    void a_property_of_less_than_a_second_is_shown_with_its_unit(String property, String warning) {
        List<String> warnings = warningsOf(application.withPropertyValues("orders.ttl=30", property));

        assertThat(warnings).singleElement().asString().startsWith(warning + ": a number without a unit counts");
    }

    @Test
    void an_environment_variable_is_shown_as_its_property() {
        assertThat(warningsOf(application.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of("SYNCGUARD_LOCKS_ORDER_HOLD_AT_LEAST", "30"))))))
                .singleElement()
                .asString()
                .startsWith("syncguard.locks.order.hold-at-least is 30ms");
    }

    @Test
    void it_says_what_to_write() {
        assertThat(warningsOf(application.withPropertyValues("syncguard.ttl=30")))
                .containsExactly("syncguard.ttl is 30ms: a number without a unit counts milliseconds. Write 30s if it"
                        + " counts seconds, and 30ms if it does not");
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
        assertThat(warningsOf(application.withPropertyValues(property))).isEmpty();
    }

    @Test
    void an_attribute_of_the_annotation_is_shown_in_its_place() {
        assertThat(warningsOf(application
                        .withPropertyValues("orders.wait=50")
                        .withBean(Orders.class)
                        .withBean("same", Orders.class)))
                .containsExactlyInAnyOrder(
                        placed("ttl") + "30ms: a number without a unit counts milliseconds. Write 30s if it counts"
                                + " seconds, and 30ms if it does not",
                        placed("waitTime") + "50ms: a number without a unit counts milliseconds. Write 50s if it counts"
                                + " seconds, and 50ms if it does not");
    }

    private static String placed(String attribute) {
        return "@DistributedLock on " + Orders.class.getName() + ".submit, attribute '" + attribute + "' is ";
    }

    private static List<String> warningsOf(ApplicationContextRunner runner) {
        try (CapturedLog log = new CapturedLog()) {
            runner.run(started -> assertThat(started).hasNotFailed());
            // A leader with a ttl of milliseconds may lose its lease meanwhile.
            return log.messages().stream()
                    .filter(message -> !message.startsWith("Lost lock"))
                    .toList();
        }
    }

    static class Orders {

        @DistributedLock(
                name = "order",
                ttl = "30",
                waitTime = "${orders.wait}",
                holdAtLeast = "200ms",
                holdAtMost = "5000")
        public void submit() {}

        @DistributedLock(name = "stock", ttl = "300ms", waitTime = "0")
        public void reserve() {}
    }
}
