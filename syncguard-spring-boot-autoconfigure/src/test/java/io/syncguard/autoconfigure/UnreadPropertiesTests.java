package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockMode;
import io.syncguard.LockSetupException;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A property that nothing reads, or that has no effect, is said. */
class UnreadPropertiesTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    SyncGuardAutoConfiguration.class,
                    SyncGuardLeaderAutoConfiguration.class,
                    AopAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new);

    private final CapturedLog log = new CapturedLog();

    @AfterEach
    void closeLog() {
        log.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "syncguard.wait-tme | Did you mean 'syncguard.wait-time'? Correct the name",
                "syncguard.waitTme | Did you mean 'syncguard.wait-time'? Correct the name",
                "syncguard.postgres.pool-sise | Did you mean 'syncguard.postgres.pool-size'? Correct the name",
                "syncguard.postgress.pool-size | Did you mean 'syncguard.postgres.pool-size'? Correct the name",
                "syncguard.lock.order.ttl | Did you mean 'syncguard.locks.order.ttl'? Correct the name",
                "syncguard.elections.settlement.ttl"
                        + " | Did you mean 'syncguard.leader.elections.settlement.ttl'? Correct the name",
                "syncguard.leader.election.settlement.ttl"
                        + " | Did you mean 'syncguard.leader.elections.settlement.ttl'? Correct the name",
                "syncguard.shards | Did you mean 'syncguard.redis.shards'? Correct the name",
                "syncguard.ttl.order | Correct the name, or remove it",
                "syncguard.colour | Correct the name, or remove it",
            })
    void an_unknown_property_is_a_warning_with_the_nearest_name(String property, String nextStep) {
        application.withPropertyValues(property + "=9").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(log.messages())
                    .containsExactly(property + " is set, but SyncGuard has no such property. " + nextStep);
        });
    }

    @Test
    void those_of_a_file_are_read_as_well(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("application.yml"), "syncguard:\n  redis:\n    shard: 3\n");
        application
                .withPropertyValues("spring.config.location=" + file.toUri())
                .withInitializer(new ConfigDataApplicationContextInitializer())
                .run(context -> assertThat(log.messages())
                        .containsExactly(
                                "syncguard.redis.shard is set, but SyncGuard has no such property. Did you mean"
                                        + " 'syncguard.redis.shards'? Correct the name"));
    }

    @Test
    void environment_variables_and_system_properties_may_be_for_other_programs() {
        application
                .withSystemProperties("syncguard.wait-tme=9s")
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of("SYNCGUARD_WAIT_TME", "9s", "syncguard.wait-tim", "9s"))))
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(log.messages()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard.waitTime=9s",
                "syncguard.wait_time=9s",
                "syncguard.backend[0]=mine",
                "syncguard.postgres.notify=false",
                "syncguard.postgres=",
                "syncguard.leader.elections.settlement.ttl=9s",
                "syncguard.leader.elections[shop.settlement].ttl=9s",
                "syncguard.locks[shop.order].ttl=9s",
                "syncguardian.ttl=9s"
            })
    void what_is_read_causes_no_warning(String property) {
        application
                .withPropertyValues(property)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_store_of_the_application_has_properties_of_its_own() {
        application
                .withPropertyValues("syncguard.backend=mine", "syncguard.mine.url=somewhere")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_child_context_does_not_repeat_the_warning() {
        application
                .withPropertyValues("syncguard.wait-tme=9s")
                .run(parent -> application
                        .withParent(parent)
                        .withPropertyValues("syncguard.wait-tme=9s")
                        .run(child -> assertThat(log.messages()).hasSize(1)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "settlement.tttl=9s | is set, but elections have no setting 'tttl', only [auto-startup, fence-rotation"
                        + " | Did you mean 'ttl'?",
                "settlement.wait-time=9s | elections have no setting 'wait-time' | [settlement.wait-time].ttl",
                "shop.settlement.ttl=9s | does not read the name 'shop.settlement' from it"
                        + " | syncguard.leader.elections[shop.settlement].ttl",
                "settlement=9s | is set, but it is no setting of an election | <name>.<setting>: [auto-startup",
            })
    void a_setting_that_no_election_has_fails_the_start(String property, String problem, String nextStep) {
        application.withPropertyValues("syncguard.leader.elections." + property).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining(LockSetupException.class.getName() + ": syncguard.leader.elections."
                            + property.split("=")[0])
                    .hasStackTraceContaining(problem)
                    .hasStackTraceContaining(nextStep);
        });
    }

    @Test
    void an_environment_variable_with_an_unknown_setting_of_an_election_fails_the_start() {
        application
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of("SYNCGUARD_LEADER_ELECTIONS_SETTLEMENT_TTTL", "9s"))))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining(
                                "SYNCGUARD_LEADER_ELECTIONS_SETTLEMENT_TTTL is no setting of an" + " election"));
    }

    @Test
    void permits_of_exclusive_locks_have_no_effect() {
        application
                .withBean(Orders.class)
                .withPropertyValues("syncguard.locks.order.permits=5", "syncguard.locks.report.permits=5")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(log.messages())
                .singleElement()
                .asString()
                .startsWith("syncguard.locks.order.permits is set, but has no effect: ");
    }

    @Test
    void the_interval_of_heartbeats_that_an_annotation_turns_off_has_no_effect() {
        application
                .withBean(Reservations.class)
                .withPropertyValues("syncguard.locks.reservation.heartbeat-interval=1s")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(log.messages())
                .containsExactly("syncguard.locks.reservation.heartbeat-interval is set, but has no effect:"
                        + " @DistributedLock on " + Reservations.class.getName() + ".reserve has heartbeat = false. Set"
                        + " syncguard.locks.reservation.heartbeat=true, or remove the property");
    }

    static class Reservations {

        @DistributedLock(name = "reservation", heartbeat = false)
        public void reserve() {}
    }

    static class Orders {

        @DistributedLock("order")
        public void submit() {}

        @DistributedLock(name = "report", mode = LockMode.SHARED)
        public void report() {}

        @DistributedLock("report")
        public void close() {}
    }
}
