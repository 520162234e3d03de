package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockRequest;
import io.syncguard.actuate.LockHealthIndicator;
import io.syncguard.actuate.SyncGuardEndpoint;
import io.syncguard.actuate.SyncGuardEndpointWebExtension;
import io.syncguard.core.LockEngine;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** What the actuator has of the locks, and when. */
class ActuatorAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    AopAutoConfiguration.class,
                    SyncGuardAutoConfiguration.class,
                    SyncGuardEndpointAutoConfiguration.class,
                    SyncGuardHealthAutoConfiguration.class,
                    SyncGuardInfoAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new)
            // Some tests leave a lock behind.
            .withPropertyValues("syncguard.shutdown-timeout=0s");

    @Test
    void an_endpoint_that_is_not_exposed_is_not_there() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(SyncGuardEndpoint.class)
                .hasSingleBean(LockHealthIndicator.class));
    }

    @Test
    void an_endpoint_that_is_exposed_shows_the_manager_by_the_name_of_its_bean_and_hides_keys() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=syncguard")
                .run(context -> {
                    assertThat(context).hasSingleBean(SyncGuardEndpointWebExtension.class);
                    context.getBean(LockEngine.class).acquire(LockRequest.of("order:42"));
                    SyncGuardEndpoint endpoint = context.getBean(SyncGuardEndpoint.class);
                    assertThat(endpoint.locks(null, null, null, null, null, null, null, null, null)
                                    .managers())
                            .containsOnlyKeys("memory");
                    assertThat(endpoint.locks(null, null, null, null, null, null, null, null, null)
                                    .toString())
                            .doesNotContain("order:42");
                });
    }

    @Test
    void the_property_shows_keys() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=syncguard",
                        "management.endpoint.syncguard.show-values=always")
                .run(context -> {
                    context.getBean(LockEngine.class).acquire(LockRequest.of("order:42"));
                    assertThat(context.getBean(SyncGuardEndpoint.class)
                                    .locks(null, null, null, null, null, null, null, null, null)
                                    .toString())
                            .contains("order:42");
                });
    }

    /** Nobody in this process has asked for one yet. */
    @ParameterizedTest
    @CsvSource({"wait-time=1s, 5 8", "permits=7, 7"})
    void the_endpoint_knows_how_many_permits_annotated_methods_have(String setting, String permits) {
        runner.withBean(Partners.class)
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=syncguard", "syncguard.locks.partner." + setting)
                .run(context -> {
                    LockEngine engine = context.getBean(LockEngine.class);
                    engine.acquire(LockRequest.of("partner:42").shared());
                    engine.acquire(LockRequest.of("partners:42").shared());

                    assertThat(context.getBean(SyncGuardEndpoint.class)
                                    .locks(null, null, null, null, null, null, null, null, null)
                                    .managers()
                                    .get("memory")
                                    .locks())
                            .extracting(lock -> lock.permitsInUse() + " of " + lock.permits())
                            .containsExactlyInAnyOrder("1 of [" + permits.replace(" ", ", ") + "]", "1 of []");
                });
    }

    @Test
    void elections_are_shown() {
        runner.withConfiguration(SortedAutoConfigurations.of(SyncGuardLeaderAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=syncguard",
                        "syncguard.leader.elections.settlement.auto-startup=false")
                .run(context -> assertThat(context.getBean(SyncGuardEndpoint.class)
                                .locks(null, null, null, null, null, null, null, null, null)
                                .elections())
                        .containsOnlyKeys("settlement"));
    }

    @Test
    void each_part_can_be_turned_off() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.syncguard.access=NONE",
                        "management.health.syncguard.enabled=false")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(SyncGuardEndpoint.class)
                        .doesNotHaveBean(LockHealthIndicator.class));
    }

    @Test
    void the_info_has_the_store_of_each_manager_and_its_owner_on_request() {
        runner.withPropertyValues("syncguard.owner=orders@7")
                .run(context -> assertThat(infoOf(context))
                        .containsEntry("locks", Map.of("memory", Map.of("backend", "memory"))));
        runner.withPropertyValues("syncguard.owner=orders@7", "management.info.syncguard.show-owner=true")
                .run(context -> assertThat(infoOf(context))
                        .containsEntry("locks", Map.of("memory", Map.of("backend", "memory", "owner", "orders@7"))));
        runner.withPropertyValues("management.info.syncguard.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(StoreInfoContributor.class));
    }

    private static Map<String, Object> infoOf(ApplicationContext context) {
        Info.Builder info = new Info.Builder();
        context.getBean(StoreInfoContributor.class).contribute(info);
        return info.build().getDetails();
    }

    @Test
    void instances_with_one_secret_show_the_same_hashes() {
        Set<String> hashes = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            runner.withPropertyValues(
                            "management.endpoints.web.exposure.include=syncguard",
                            "management.endpoint.syncguard.hash-secret=0123456789abcdef0123456789abcdef")
                    .run(context -> {
                        context.getBean(LockEngine.class).acquire(LockRequest.of("order:42"));
                        hashes.add(context.getBean(SyncGuardEndpoint.class)
                                .locks(null, null, null, null, null, null, null, null, null)
                                .managers()
                                .get("memory")
                                .locks()
                                .get(0)
                                .key());
                    });
        }
        assertThat(hashes).hasSize(1);
    }

    @Test
    void without_the_actuator_the_application_starts() {
        runner.withClassLoader(
                        new FilteredClassLoader("org.springframework.boot.actuate", "org.springframework.boot.health"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockEngine.class));
    }

    @Test
    void without_locks_there_is_nothing_to_show() {
        runner.withPropertyValues("syncguard.enabled=false", "management.endpoints.web.exposure.include=*")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(SyncGuardEndpoint.class)
                        .doesNotHaveBean(LockHealthIndicator.class));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    include=health            | enabled=true  | syncguard.console.enabled is true
                    include=syncguard         | enabled=true  | syncguard.console.enabled is true
                    include=syncguardconsole  | enabled=true  | syncguard.console.enabled is true
                    include=*                 | enabled=true  |
                    include=syncguard,syncguardconsole  | enabled=true |
                    include=syncguard,syncguardconsole  | not set  | The console is not there, although the endpoint
                    include=syncguard,syncguard-console | not set  | The console is not there, although the endpoint
                    include=syncguard,syncguardconsole  | enabled=false |
                    include=syncguard         | not set       |
                    include=*                 | not set       |
                    """)
    void half_a_console_is_named_at_the_start(String exposure, String console, @Nullable String warning) {
        assertThat(warningsOf(
                        new WebApplicationContextRunner(),
                        "management.endpoints.web.exposure." + exposure,
                        console.equals("not set") ? "sample.other=" : "syncguard.console." + console))
                .hasSize(warning == null ? 0 : 1)
                .allMatch(found -> found.startsWith(String.valueOf(warning)) && found.contains("Set "));
    }

    @Test
    void a_console_that_an_exclusion_or_a_part_turns_off_is_not_named() {
        String exposed = "management.endpoints.web.exposure.include=syncguard,syncguardconsole";
        assertThat(warningsOf(
                        new WebApplicationContextRunner(),
                        exposed,
                        "management.endpoints.web.exposure.exclude=syncguardconsole"))
                .isEmpty();
        assertThat(warningsOf(new WebApplicationContextRunner(), exposed, "syncguard.enabled=false"))
                .isEmpty();
        assertThat(warningsOf(new ApplicationContextRunner(), "syncguard.console.enabled=true"))
                .isEmpty();
    }

    @Test
    void half_a_console_is_named_in_a_reactive_application() {
        assertThat(warningsOf(new ReactiveWebApplicationContextRunner(), "syncguard.console.enabled=true"))
                .hasSize(1);
    }

    private static List<String> warningsOf(AbstractApplicationContextRunner<?, ?, ?> runner, String... properties) {
        try (CapturedLog log = new CapturedLog()) {
            runner.withConfiguration(SortedAutoConfigurations.of(
                            AopAutoConfiguration.class,
                            EndpointAutoConfiguration.class,
                            SyncGuardAutoConfiguration.class,
                            SyncGuardEndpointAutoConfiguration.class,
                            SyncGuardConsoleAutoConfiguration.class))
                    .withBean(LockBackend.class, InMemoryLockBackend::new)
                    .withPropertyValues(properties)
                    .run(context -> assertThat(context.getStartupFailure()).isNull());
            return List.copyOf(log.messages());
        }
    }

    static class Partners {

        @DistributedLock(name = "partner", key = "#id", permits = "5")
        public void ask(String id) {}

        @DistributedLock(name = "partner", key = "#id", permits = "8")
        public void askUrgently(String id) {}

        @DistributedLock(name = "partner", key = "#id")
        public void drain(String id) {}
    }
}
