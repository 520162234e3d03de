package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockOutcome;
import io.syncguard.LockRequest;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.micrometer.LockObservationDocumentation;
import io.syncguard.micrometer.LockObservationDocumentation.HighCardinalityKeys;
import io.syncguard.micrometer.LockObservationDocumentation.LowCardinalityKeys;
import io.syncguard.testing.Scrape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.yaml.snakeyaml.Yaml;

/**
 * The page on observability lists the meters and observations that there are. The dashboard and the alert rules use
 * metrics, labels and values that a scrape of an application has.
 */
class ObservabilityDocumentsTests {

    private static final Path DOCS = Path.of("../docs");

    private static final LockRequest ORDER = LockRequest.of("order:4711").meterName("orders");

    private static final Pattern METER_ROW = Pattern.compile(
            "(?m)^\\| `(syncguard\\.[a-z.]+)` \\| (timer|long task timer|gauge|counter) \\| ([^|]*) \\|");

    private static final Pattern OBSERVATION_ROW = Pattern.compile("(?m)^\\| `(syncguard\\.[a-z.]+)` \\|");

    private static final Pattern KEY_ROW = Pattern.compile("(?m)^\\| `([a-z.]+)` \\| (low|high) \\|");

    private static final Pattern QUOTED = Pattern.compile("`([a-z]+)`");

    private static final Pattern SELECTOR = Pattern.compile("\\b(syncguard_\\w+)(?:\\{([^}]*)})?");

    private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~|!~|!=|=)\"([^\"]*)\"");

    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");

    private static final Pattern WITHOUT = Pattern.compile("\\bwithout \\(([^)]*)\\)");

    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");

    private static final Pattern LEGEND = Pattern.compile("\\{\\{(\\w+)}}");

    private static final Pattern ANNOTATION = Pattern.compile("\\$labels\\.(\\w+)");

    /** The labels that Prometheus adds to what it scrapes. */
    private static final Set<String> OF_PROMETHEUS = Set.of("application", "instance", "job", "namespace", "pod");

    private static final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    private static Scrape scrape;

    /** As the property management.metrics.distribution.percentiles-histogram does. */
    private static void addHistogram() {
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
    }

    @BeforeAll
    static void scrapeAnApplicationThatDidEachThing() {
        addHistogram();
        TestDatabase database = TestDatabase.withSchema();
        Applications.on(database.url())
                .withPropertyValues(
                        "syncguard.shutdown-timeout=100ms", "syncguard.leader.elections.scheduler.fence-rotation=50ms")
                .withBean(PrometheusMeterRegistry.class, () -> registry)
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    holdExtendAndRefuse(locks);
                    fail(locks, database);
                    lose(locks);
                    lead(application);
                    scrape = new Scrape(registry.scrape());
                });
    }

    @Test
    void the_table_of_meters_has_their_names_kinds_and_tags() throws IOException {
        List<String> documented = results(METER_ROW, Files.readString(DOCS.resolve("observability.md"))).stream()
                .map(row -> row.group(1) + " " + row.group(2) + " " + sorted(results(QUOTED, row.group(3))))
                .toList();

        assertThat(documented)
                .containsExactlyInAnyOrderElementsOf(registry.getMeters().stream()
                        .map(Meter::getId)
                        .filter(id -> id.getName().startsWith("syncguard."))
                        .map(id -> id.getName() + " "
                                + id.getType().name().toLowerCase(Locale.ROOT).replace('_', ' ') + " "
                                + id.getTags().stream()
                                        .map(Tag::getKey)
                                        .sorted()
                                        .toList())
                        .distinct()
                        .toList());
    }

    @Test
    void the_tables_of_observations_have_their_names_and_keys() throws IOException {
        String page = Files.readString(DOCS.resolve("observability.md"));
        String observations = page.substring(page.indexOf("## Observations"), page.indexOf("## Dashboard"));

        assertThat(results(OBSERVATION_ROW, observations.substring(0, observations.indexOf("| key |"))))
                .extracting(row -> row.group(1))
                .containsExactlyElementsOf(Stream.of(LockObservationDocumentation.values())
                        .map(LockObservationDocumentation::getName)
                        .toList());
        assertThat(results(KEY_ROW, observations))
                .extracting(row -> row.group(1) + " " + row.group(2))
                .containsExactlyElementsOf(Stream.concat(
                                keys(LowCardinalityKeys.values(), "low"), keys(HighCardinalityKeys.values(), "high"))
                        .toList());
        assertThat(observations)
                .contains("`" + LockObservationDocumentation.Events.LOST.getName() + "`")
                .contains(Stream.of(LockOutcome.values())
                        .map(outcome -> "`" + outcome.name().toLowerCase(Locale.ROOT) + "`")
                        .toList());
    }

    @Test
    void the_alert_rules_use_what_the_scrape_has() throws IOException {
        List<Map<String, Object>> rules = rules();

        assertThat(rules).hasSizeGreaterThan(7).allSatisfy(rule -> {
            String expression = (String) rule.get("expr");
            requireKnown(expression);
            assertThat(results(ANNOTATION, rule.get("annotations").toString()))
                    .as("labels in the annotations of " + rule.get("alert"))
                    .allMatch(label -> labelsOf(expression).contains(label.group(1)));
        });
    }

    @Test
    void each_alert_rule_leads_to_its_section_of_the_page() throws IOException {
        String page = Files.readString(DOCS.resolve("observability.md"));

        assertThat(rules()).allSatisfy(rule -> {
            String name = String.valueOf(rule.get("alert"));
            assertThat(page).contains("\n### " + name + "\n");
            assertThat(String.valueOf(rule.get("annotations")))
                    .contains("runbook_url=https://github.com/syncguard/syncguard/blob/main/docs/observability.md#"
                            + name.toLowerCase(Locale.ROOT) + "}");
        });
    }

    /** Alerts that lose these labels cannot be routed. */
    @Test
    void no_alert_rule_chooses_its_labels() throws IOException {
        assertThat(rules())
                .allSatisfy(
                        rule -> assertThat(groupings((String) rule.get("expr"))).isEmpty());
    }

    @Test
    void the_dashboard_uses_what_the_scrape_has() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("grafana-dashboard.json"));
        List<Map<String, Object>> targets = JsonPath.read(dashboard, "$.panels[*].targets[*]");

        assertThat(targets).hasSizeGreaterThan(15).allSatisfy(target -> {
            String expression = (String) target.get("expr");
            requireKnown(expression);
            assertThat(results(LEGEND, String.valueOf(target.get("legendFormat"))))
                    .as("labels in the legend of " + expression)
                    .allMatch(label -> groupings(expression).contains(label.group(1)));
        });
        assertThat(JsonPath.<List<String>>read(dashboard, "$.templating.list[*].definition"))
                .hasSize(6)
                .allSatisfy(definition -> assertThat(results(LABEL_VALUES, definition))
                        .hasSize(1)
                        .allMatch(each -> labels(each.group(1)).contains(each.group(2))));
    }

    @Test
    void the_dashboard_takes_its_data_from_the_chosen_source_and_places_each_panel_once() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("grafana-dashboard.json"));

        assertThat(JsonPath.<List<String>>read(dashboard, "$..datasource.uid"))
                .hasSizeGreaterThan(20)
                .containsOnly("${datasource}");
        assertThat(JsonPath.<Integer>read(dashboard, "$.schemaVersion")).isGreaterThanOrEqualTo(39);
        assertThat(JsonPath.<List<Integer>>read(dashboard, "$.panels[*].id")).doesNotHaveDuplicates();
        assertThat(JsonPath.<List<Map<String, Integer>>>read(dashboard, "$.panels[*].gridPos"))
                .doesNotHaveDuplicates()
                .allMatch(place -> place.get("x") + place.get("w") <= 24);
        assertThat(dashboard).doesNotContain("http");
    }

    private static void holdExtendAndRefuse(LockManager locks) {
        try (LockHandle lock = locks.acquire(ORDER)) {
            assertThat(lock.extend(Duration.ofSeconds(10))).isTrue();
        }
        try (LockHandle lock = locks.acquire(ORDER)) {
            assertThat(lock.isHeld()).isTrue();
            assertThat(locks.tryAcquire(ORDER)).isNull();
        }
        locks.acquire(LockRequest.of("partner", "42").permits(5)).release();
    }

    private static void fail(LockManager locks, TestDatabase database) {
        LockHandle lock = locks.acquire(ORDER);
        database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
        try {
            assertThatThrownBy(() -> locks.acquire(ORDER.key("order:4712"))).isInstanceOf(LockException.class);
            assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(20))).isInstanceOf(LockException.class);
            assertThat(lock.release()).isTrue();
        } finally {
            database.jdbc().execute("ALTER TABLE away RENAME TO syncguard_locks");
        }
    }

    private static void lose(LockManager locks) {
        locks.acquire(ORDER.key("order:4713").ttl(Duration.ofSeconds(1)).noHeartbeat());
        await().atMost(Duration.ofSeconds(5))
                .until(() -> registry.get("syncguard.lock.lost")
                                .tags("name", "orders", "reason", "expired")
                                .counter()
                                .count()
                        == 1);
    }

    private static void lead(ApplicationContext application) {
        LeaderMember member = application.getBean(LeaderElection.class).join("scheduler");
        await().atMost(Duration.ofSeconds(5)).until(() -> count("rotated") > 0);
        member.leave();
        await().atMost(Duration.ofSeconds(5)).until(() -> count("revoked", "reason", "left") == 1);
    }

    private static double count(String meter, String... tags) {
        return registry.get("syncguard.leader." + meter).tags(tags).counters().stream()
                .mapToDouble(each -> each.count())
                .sum();
    }

    private static List<Map<String, Object>> rules() throws IOException {
        Map<String, List<Map<String, List<Map<String, Object>>>>> file =
                new Yaml().load(Files.readString(DOCS.resolve("prometheus-alerts.yml")));
        return file.get("groups").stream()
                .flatMap(group -> group.get("rules").stream())
                .toList();
    }

    private static Stream<String> keys(KeyName[] keys, String cardinality) {
        return Stream.of(keys).map(key -> key.asString() + " " + cardinality);
    }

    private static List<String> sorted(List<MatchResult> words) {
        return words.stream().map(word -> word.group(1)).sorted().toList();
    }

    private static void requireKnown(String expression) {
        List<MatchResult> selectors = results(SELECTOR, expression);
        assertThat(selectors).as(expression).isNotEmpty();
        for (MatchResult selector : selectors) {
            String metric = selector.group(1);
            assertThat(scrape.metrics()).as(expression).contains(metric);
            for (MatchResult matcher : results(MATCHER, String.valueOf(selector.group(2)))) {
                assertThat(labels(metric)).as(expression).contains(matcher.group(1));
                if (matcher.group(2).equals("=")) {
                    assertThat(scrape.values(metric, matcher.group(1)))
                            .as(expression)
                            .contains(matcher.group(3));
                }
            }
            assertThat(labels(metric))
                    .as("labels of " + metric + " in " + expression)
                    .containsAll(groupings(expression));
        }
    }

    /** The labels of a metric in Prometheus. */
    private static Set<String> labels(String metric) {
        return Stream.of(scrape.labels(metric), OF_PROMETHEUS)
                .flatMap(Set::stream)
                .collect(Collectors.toSet());
    }

    /** The labels by which an expression groups. */
    private static Set<String> groupings(String expression) {
        return labelsIn(GROUPING, expression);
    }

    /** The labels of the result: those by which it groups, or those of its metrics that its first part does not sum. */
    private static Set<String> labelsOf(String expression) {
        if (!groupings(expression).isEmpty()) {
            return groupings(expression);
        }
        Set<String> left = new HashSet<>(OF_PROMETHEUS);
        results(SELECTOR, expression).forEach(each -> left.addAll(scrape.labels(each.group(1))));
        results(WITHOUT, expression).stream()
                .limit(1)
                .forEach(without -> left.removeAll(List.of(without.group(1).split(", "))));
        return left;
    }

    private static Set<String> labelsIn(Pattern grouping, String expression) {
        return results(grouping, expression).stream()
                .flatMap(each -> Stream.of(each.group(1).split(", ")))
                .collect(Collectors.toSet());
    }

    private static List<MatchResult> results(Pattern pattern, String text) {
        return pattern.matcher(text).results().toList();
    }
}
