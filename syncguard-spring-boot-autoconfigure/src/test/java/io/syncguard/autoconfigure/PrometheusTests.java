package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** A server of Prometheus scrapes two instances: the dashboard shows them, and the alert rules say what is wrong. */
class PrometheusTests {

    /** What Grafana replaces. */
    private static final Map<String, String> VARIABLES =
            Map.of("$__rate_interval", "10s", "$__interval", "1s", "$__range", "60s");

    private static final LockRequest ORDER = LockRequest.of("order:4711").meterName("orders");

    /** The reasons of losses. */
    private static final int LOSSES = 5;

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Map<String, PrometheusMeterRegistry> registries = new LinkedHashMap<>();

    @TempDir
    private Path directory;

    @BeforeEach
    void makeRegistries() {
        Stream.of("a", "b").forEach(instance -> registries.put(instance, registry()));
    }

    @Test
    void each_panel_shows_its_data_and_each_rule_can_be_evaluated() throws IOException {
        TestDatabase database = TestDatabase.withSchema();
        try (Prometheus prometheus = new Prometheus(directory, registries)) {
            instance("a", database)
                    .run(a -> instance("b", database).run(b -> {
                        LockManager first = a.getBean(LockManager.class);
                        LockManager second = b.getBean(LockManager.class);
                        LeaderMember leader = lead(a, b);
                        await().atMost(LIMIT)
                                .until(() -> prometheus
                                                .results("syncguard_lock_lost_total{name=\"leader:scheduler\"}")
                                                .size()
                                        == 2 * LOSSES);
                        holdExtendAndRefuse(first, second);
                        fail(first, database);
                        lose(first);
                        leader.leave();
                        CompletableFuture<?> waiting = waitForOneThatIsHeld(first, second);

                        await().atMost(LIMIT)
                                .untilAsserted(() ->
                                        assertThat(emptyPanels(prometheus)).isEmpty());
                        await().atMost(LIMIT)
                                .untilAsserted(() -> assertThat(prometheus.rules())
                                        .hasSizeGreaterThan(10)
                                        .allSatisfy(rule -> assertThat(rule).containsEntry("health", "ok")));
                        await().atMost(LIMIT)
                                .untilAsserted(() -> assertThat(firing(prometheus))
                                        .contains("SyncGuardLockLost", "SyncGuardStoreFails"));
                        assertThat(annotations(prometheus))
                                .contains("Locks \"orders\" were lost while they were held, in a")
                                .contains("Errors: schema_missing ")
                                .doesNotContain("error expanding");
                        assertThat(waiting).isNotDone();
                    }));
        }
    }

    /** The panels with a query without a result. A query that cannot be evaluated fails. */
    private static List<String> emptyPanels(Prometheus prometheus) throws IOException {
        String dashboard = Files.readString(Path.of("../docs/grafana-dashboard.json"));
        return JsonPath.<List<Map<String, Object>>>read(dashboard, "$.panels[?(@.targets)]").stream()
                .flatMap(panel -> JsonPath.<List<String>>read(panel, "$.targets[*].expr").stream()
                        .filter(query -> (panel.get("type").equals("stat")
                                        ? prometheus.results(replaced(query))
                                        : prometheus.series(replaced(query)))
                                .isEmpty())
                        .map(query -> panel.get("title") + ": " + query))
                .toList();
    }

    private static String replaced(String query) {
        String replaced = query;
        for (Map.Entry<String, String> variable : VARIABLES.entrySet()) {
            replaced = replaced.replace(variable.getKey(), variable.getValue());
        }
        return replaced.replaceAll("\\$[a-z]+", ".*");
    }

    private static List<Object> firing(Prometheus prometheus) {
        return prometheus.rules().stream()
                .filter(rule -> rule.get("state").equals("firing"))
                .map(rule -> rule.get("name"))
                .toList();
    }

    private static String annotations(Prometheus prometheus) {
        return prometheus.rules().stream()
                .flatMap(rule -> JsonPath.<List<Map<String, String>>>read(rule, "$.alerts[*].annotations").stream())
                .flatMap(annotations -> annotations.values().stream())
                .collect(Collectors.joining("\n"));
    }

    private static LeaderMember lead(ApplicationContext first, ApplicationContext second) {
        LeaderMember leader = first.getBean(LeaderElection.class).join("scheduler");
        await().atMost(LIMIT).until(leader::isLeader);
        second.getBean(LeaderElection.class).join("scheduler");
        return leader;
    }

    private static void holdExtendAndRefuse(LockManager first, LockManager second) {
        try (LockHandle lock = first.acquire(ORDER)) {
            assertThat(lock.extend(Duration.ofSeconds(10))).isTrue();
            assertThat(second.tryAcquire(ORDER)).isNull();
        }
        first.acquire(LockRequest.of("partner", "42").permits(5)).release();
    }

    private static void fail(LockManager locks, TestDatabase database) {
        LockHandle lock = locks.acquire(ORDER);
        database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
        try {
            assertThatThrownBy(() -> locks.acquire(ORDER.key("order:4712"))).isInstanceOf(LockException.class);
            assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(20))).isInstanceOf(LockException.class);
            lock.release();
        } finally {
            database.jdbc().execute("ALTER TABLE away RENAME TO syncguard_locks");
        }
    }

    private static void lose(LockManager locks) {
        LockHandle lock =
                locks.acquire(ORDER.key("order:4713").ttl(Duration.ofSeconds(1)).noHeartbeat());
        await().atMost(LIMIT).until(() -> !lock.isHeld());
    }

    /** The end of the second application ends the wait. */
    private static CompletableFuture<LockHandle> waitForOneThatIsHeld(LockManager first, LockManager second) {
        LockRequest request = ORDER.key("order:4714");
        first.acquire(request);
        return CompletableFuture.supplyAsync(() -> second.acquire(request.waitTime(LIMIT.multipliedBy(10))));
    }

    private ApplicationContextRunner instance(String name, TestDatabase database) {
        return Applications.on(database.url())
                .withBean(PrometheusMeterRegistry.class, () -> registries.get(name))
                .withPropertyValues(
                        "syncguard.shutdown-timeout=0s", "syncguard.leader.elections.scheduler.fence-rotation=1s");
    }

    /** As the property management.metrics.distribution.percentiles-histogram does. */
    private static PrometheusMeterRegistry registry() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                return id.getName().equals("syncguard.lock.acquire")
                        ? DistributionStatisticConfig.builder()
                                .percentilesHistogram(true)
                                .build()
                                .merge(config)
                        : config;
            }
        });
        return registry;
    }
}
