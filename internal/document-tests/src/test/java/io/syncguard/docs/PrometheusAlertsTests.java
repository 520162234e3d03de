package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.jayway.jsonpath.JsonPath;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alert rules fire when they should, and the dashboard shows what its data say, by the tool of Prometheus. */
class PrometheusAlertsTests {

    /** What Grafana replaces: all values of each variable, the last hour, a step of a minute. */
    private static final Map<String, String> VARIABLES = Map.of(
            "$__rate_interval", "5m",
            "$__interval", "1m",
            "$__range", "1h");

    private String promtool = "";

    @TempDir
    private Path directory;

    @BeforeEach
    void findPromtool() {
        promtool = Stream.concat(
                        Stream.ofNullable(System.getenv("SYNCGUARD_TEST_PROMTOOL")),
                        Stream.of(System.getenv("PATH").split(File.pathSeparator))
                                .map(place -> place + "/promtool"))
                .filter(program -> Files.isExecutable(Path.of(program)))
                .findFirst()
                .orElse("");
        assumeTrue(
                !promtool.isEmpty(),
                "no promtool: install Debian's package prometheus, or set SYNCGUARD_TEST_PROMTOOL");
    }

    @Test
    void the_alerts_come_and_go() throws IOException, InterruptedException {
        test(Path.of("src/test/resources/prometheus-alerts-tests.yml"));
    }

    /** Eight losses: two of a counter that was there, one that makes its counter, four before a restart and one after it. */
    @Test
    void the_failure_panels_show_what_the_counters_say_in_whole_numbers() throws IOException, InterruptedException {
        String orders = "name=\"orders\",mode=\"exclusive\",backend=\"postgres\",instance=\"%s\",job=\"shop\"";
        String failed = ",outcome=\"failed\",error=\"network_timeout\"";
        String series = Stream.of(
                        series(
                                "syncguard_lock_lost_total",
                                orders.formatted("a") + ",reason=\"expired\"",
                                "0x90 2x149"),
                        series(
                                "syncguard_lock_lost_total",
                                orders.formatted("b") + ",reason=\"expired\"",
                                "_x90 1x149"),
                        series(
                                "syncguard_lock_lost_total",
                                orders.formatted("c") + ",reason=\"expired\"",
                                "0x90 4x30 1x119"),
                        series("syncguard_lock_acquire_seconds_count", orders.formatted("a") + failed, "_x50 400x189"),
                        series("syncguard_lock_extend_total", orders.formatted("a") + failed, "_x50 5x189"),
                        series("syncguard_lock_release_total", orders.formatted("a") + failed, "_x50 3x30 _x20 8x139"))
                .collect(Collectors.joining());
        String expected = Stream.of(
                        value("Lost", 8),
                        value("Failed acquisitions", 400),
                        value("Failed extensions", 5),
                        value("Failed releases", 8))
                .collect(Collectors.joining());

        test(series, "15s", expected);
    }

    @Test
    void all_queries_of_the_dashboard_can_be_evaluated() throws IOException, InterruptedException {
        String expected = JsonPath.<List<String>>read(dashboard(), "$.panels[*].targets[*].expr").stream()
                .map(query -> expected(query, query.endsWith("vector(0)") ? "[{value: 0}]" : "[]"))
                .collect(Collectors.joining());

        test(series("another", "", "1x10"), "1m", expected);
    }

    private static String series(String metric, String labels, String values) {
        return "      - {series: '" + metric + "{" + labels + "}', values: '" + values + "'}\n";
    }

    private static String value(String panel, int value) throws IOException {
        List<String> queries = JsonPath.read(
                dashboard(), "$.panels[?(@.type == 'stat' && @.title == '" + panel + "')].targets[*].expr");
        return expected(queries.get(0), "[{value: " + value + "}]");
    }

    private static String expected(String query, String samples) {
        return "      - {eval_time: 59m, expr: '" + replaced(query) + "', exp_samples: " + samples + "}\n";
    }

    private static String replaced(String query) {
        String replaced = query;
        for (Map.Entry<String, String> variable : VARIABLES.entrySet()) {
            replaced = replaced.replace(variable.getKey(), variable.getValue());
        }
        return replaced.replaceAll("\\$[a-z]+", ".*");
    }

    private static String dashboard() throws IOException {
        return Files.readString(Path.of("../../docs/grafana-dashboard.json"));
    }

    private void test(String series, String interval, String expected) throws IOException, InterruptedException {
        Path file = directory.resolve("tests.yml");
        Files.writeString(
                file,
                "evaluation_interval: 1m\ntests:\n  - interval: " + interval + "\n    input_series:\n" + series
                        + "    promql_expr_test:\n" + expected);
        test(file);
    }

    private void test(Path file) throws IOException, InterruptedException {
        Process tool = new ProcessBuilder(promtool, "test", "rules", file.toString())
                .redirectErrorStream(true)
                .start();

        String output = new String(tool.getInputStream().readAllBytes());
        assertThat(tool.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(tool.exitValue()).as(output).isZero();
    }
}
