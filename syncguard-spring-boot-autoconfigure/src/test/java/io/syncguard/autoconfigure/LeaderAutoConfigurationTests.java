package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.Fence;
import io.syncguard.LockInfo;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderFenceRotatedEvent;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderRevocation;
import io.syncguard.leader.LeaderRevokedEvent;
import io.syncguard.leader.LeaderSettings;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

/** Elections of an application: what is configured, when they are joined and left, and which events there are. */
class LeaderAutoConfigurationTests {

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
    void an_election_is_configured_by_its_name_and_joined_with_the_start() {
        runner("auto-startup=true").run(application -> {
            LeaderMember member = member(application);

            assertThat(member.settings()).isEqualTo(LeaderSettings.defaults());
            eventually(member::isLeader);
            assertThat(application.getBean(LeaderElection.class).leader("scheduler"))
                    .hasValueSatisfying(leader -> assertThat(leader.owner())
                            .startsWith("application@" + ProcessHandle.current().pid()));
        });
    }

    @Test
    void without_auto_start_it_is_known_and_joined_by_code() {
        runner("auto-startup=false").run(application -> {
            LeaderMember member = member(application);
            assertThat(member.isJoined()).isFalse();

            application.getBean(LeaderElection.class).join("scheduler");

            eventually(member::isLeader);
        });
    }

    @Test
    void settings_and_label_are_those_of_the_properties() {
        runner("ttl=30s", "heartbeat=2s", "fence-rotation=0", "owner=node-24").run(application -> {
            assertThat(member(application).settings())
                    .isEqualTo(LeaderSettings.of(Duration.ofSeconds(30))
                            .heartbeat(Duration.ofSeconds(2))
                            .fenceRotation(Duration.ZERO)
                            .owner("node-24"));
            eventually(member(application)::isLeader);
            assertThat(application.getBean(LeaderElection.class).leader("scheduler"))
                    .map(LockInfo::owner)
                    .contains("node-24");
        });
    }

    @Test
    void the_label_of_all_locks_is_that_of_leaders_too_when_nothing_is_said() {
        runner("auto-startup=true")
                .withPropertyValues("syncguard.owner=somebody")
                .run(application -> {
                    eventually(member(application)::isLeader);
                    assertThat(application.getBean(LeaderElection.class).leader("scheduler"))
                            .map(LockInfo::owner)
                            .contains("somebody");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fence-rotation=8s| .fence-rotation is 8s, but has to be at most 7500ms, half of the ttl (15s)."
                        + " Zero turns it",
                "fence-rotation=-1s| .fence-rotation is -1s",
                "heartbeat=6s| .heartbeat is 6s",
                "ttl=0s| .ttl is 0s",
                "ttl=2ms| .ttl is 2ms",
                "lock-manager=elsewhere| ': there is no LockManager with the name or qualifier'"
            })
    void a_value_that_makes_no_sense_fails_the_start_and_is_named(String property, String what) {
        runner(property)
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasStackTraceContaining("syncguard.leader.elections.scheduler" + what));
    }

    @ParameterizedTest
    @CsvSource({
        "'postgres,redis', '', postgres",
        "'postgres,redis', redis, redis",
        "'redis,postgres', postgres, postgres"
    })
    void the_lock_of_the_leader_is_on_the_backend_that_is_named(String backends, String named, String expected) {
        servers.with(backends)
                .withPropertyValues("syncguard.leader.elections.on-" + expected + ".auto-startup=true")
                .withPropertyValues(
                        named.isEmpty()
                                ? "unused=x"
                                : "syncguard.leader.elections.on-" + expected + ".lock-manager=" + named)
                .run(application -> {
                    LeaderElection election = application.getBean(LeaderElection.class);
                    eventually(() -> election.isLeader("on-" + expected));

                    assertThat(servers.keepersOf("leader:on-" + expected)).containsExactly(expected);
                    assertThat(election.leader("on-" + expected)).isPresent();
                });
    }

    @Test
    void an_application_that_stops_hands_over_before_its_other_beans_stop() {
        AtomicReference<Callable<Boolean>> next = new AtomicReference<>();
        runner("auto-startup=true").run(two -> {
            LeaderMember successor = member(two);
            eventually(successor::isLeader);
            runner("auto-startup=true").run(one -> {
                next.set(member(one)::isLeader);
                successor.leave();
                eventually(next.get());
                two.getBean(LeaderElection.class).join("scheduler");
            });
            eventually(successor::isLeader);
            assertThat(next.get().call()).isFalse();
        });
    }

    @Test
    void events_of_the_application_and_listener_beans_report_each_step() {
        runner("ttl=30s", "fence-rotation=50ms", "owner=node-24")
                .withBean(EventRecorder.class)
                .withBean(WantsTheElection.class)
                .run(application -> {
                    EventRecorder recorder = application.getBean(EventRecorder.class);
                    eventually(() -> recorder.events.size() >= 2);
                    member(application).pause();

                    eventually(() -> recorder.events.get(recorder.events.size() - 1) instanceof LeaderRevokedEvent);
                    LeaderElectedEvent elected = (LeaderElectedEvent) recorder.events.get(0);
                    long first = elected.fence().value();
                    int rotations = recorder.events.size() - 2;
                    List<Object> expected = new ArrayList<>(List.of(elected));
                    for (long fence = first + 1; fence <= first + rotations; fence++) {
                        expected.add(new LeaderFenceRotatedEvent("scheduler", "node-24", new Fence(fence)));
                    }
                    expected.add(new LeaderRevokedEvent(
                            "scheduler", "node-24", new Fence(first + rotations), LeaderRevocation.PAUSED));
                    assertThat(recorder.events).isEqualTo(expected);
                    assertThat(application.getBean(WantsTheElection.class).elected)
                            .containsExactly(first);
                });
    }

    @Test
    void meters_show_who_leads_and_count_the_changes() {
        runner("auto-startup=true")
                .withConfiguration(SortedAutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class))
                .run(application -> {
                    MeterRegistry meters = application.getBean(MeterRegistry.class);
                    eventually(() -> meters.find("syncguard.leader.elected").counter() != null
                            && meters.get("syncguard.leader.elected").counter().count() == 1);
                    assertThat(meters.get("syncguard.leader.active")
                                    .tag("name", "scheduler")
                                    .gauge()
                                    .value())
                            .isEqualTo(1);

                    member(application).pause();

                    assertThat(meters.get("syncguard.leader.active")
                                    .tag("name", "scheduler")
                                    .gauge()
                                    .value())
                            .isZero();
                    eventually(() -> meters.get("syncguard.leader.revoked")
                                    .tags("name", "scheduler", "reason", "paused")
                                    .counter()
                                    .count()
                            == 1);
                    assertThat(meters.get("syncguard.leader.revoked")
                                    .tags("name", "scheduler", "reason", "lost")
                                    .counter()
                                    .count())
                            .isZero();
                });
    }

    @Test
    void the_actuator_shows_what_this_process_leads() {
        runner("auto-startup=true").run(application -> {
            eventually(member(application)::isLeader);
            long fence = member(application).fence().orElseThrow().value();
            assertThat(info(application)).isEqualTo(Map.of("scheduler", Map.of("leader", true, "fence", fence)));

            member(application).pause();
            assertThat(info(application)).isEqualTo(Map.of("scheduler", Map.of("leader", false)));
        });
    }

    @Test
    void without_the_actuator_or_when_it_is_turned_off_nothing_is_shown() {
        runner("auto-startup=false")
                .withClassLoader(new FilteredClassLoader(InfoContributor.class))
                .run(application -> assertThat(application).hasNotFailed());
        runner("auto-startup=false")
                .withPropertyValues("management.info.syncguard.enabled=false")
                .run(application -> assertThat(application).doesNotHaveBean(InfoContributor.class));
    }

    @Test
    void the_application_starts_while_redis_is_away_and_leads_when_it_comes() {
        try (OwnRedis redis = new OwnRedis()) {
            redis.stop();
            servers.on(redis.url())
                    .withPropertyValues(
                            "syncguard.backend=redis", "syncguard.leader.elections.scheduler.auto-startup=true")
                    .run(application -> {
                        assertThat(application).hasNotFailed();
                        assertThat(member(application).isLeader()).isFalse();

                        redis.start();

                        eventually(member(application)::isLeader);
                    });
        }
    }

    private static ApplicationContextRunner runner(String... properties) {
        ApplicationContextRunner runner = servers.with("postgres");
        for (String property : properties) {
            runner = runner.withPropertyValues("syncguard.leader.elections.scheduler." + property);
        }
        return runner;
    }

    private static LeaderMember member(ApplicationContext application) {
        return application.getBean(LeaderElection.class).member("scheduler");
    }

    private static Object info(ApplicationContext application) {
        Info.Builder builder = new Info.Builder();
        application.getBeansOfType(InfoContributor.class).values().forEach(each -> each.contribute(builder));
        return builder.build().get("leader");
    }

    private static void eventually(Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    static class EventRecorder {

        private final List<Object> events = new CopyOnWriteArrayList<>();

        @EventListener({LeaderElectedEvent.class, LeaderFenceRotatedEvent.class, LeaderRevokedEvent.class})
        void record(Object event) {
            events.add(event);
        }
    }

    static class WantsTheElection implements LeaderListener {

        private final LeaderElection election;
        private final List<Long> elected = new CopyOnWriteArrayList<>();

        WantsTheElection(LeaderElection election) {
            this.election = election;
        }

        @Override
        public void elected(LeaderElectedEvent event) {
            if (election.member(event.name()).isJoined()) {
                elected.add(event.fence().value());
            }
        }
    }
}
