package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that the comparison runs and that every candidate takes part, not how fast any of them is. */
@Tag("verification")
class CompareTests {

    private static final String ADVISORY = "session-level advisory locks";

    private static final List<String> ON_POSTGRES =
            List.of("SyncGuard", "ShedLock", "Spring Integration", ADVISORY, "raw statements", "empty statements");

    private static final List<String> WHO_WAITS_ON_POSTGRES = List.of(
            "SyncGuard",
            "Spring Integration",
            "Spring Integration, 1 ms idle",
            ADVISORY,
            "bare NOTIFY",
            "bare NOTIFY, prompt socket");

    private static final List<String> WHO_WAITS_IN_REDIS =
            List.of("SyncGuard", "Redisson", "Spring Integration, spin", "Spring Integration, pub/sub");

    private static final List<String> IN_MARIADB = List.of("SyncGuard", "ShedLock", "Spring Integration");

    private static final List<String> WHO_WAITS_IN_MARIADB = List.of("SyncGuard", "Spring Integration");

    private static final List<String> WITH_PERMITS_ON_POSTGRES =
            List.of("SyncGuard", "a row per permit", "a row per permit, 1 ms idle");

    private static final List<String> WITH_PERMITS_IN_REDIS =
            List.of("SyncGuard", "Redisson, lease time", "Redisson, no lease time");

    private static final String LEFT_OVER = "of 8 permits with a ttl of 2 s, 4 s later others can have: those of ";

    private static final List<String> IN_REDIS = Stream.concat(WHO_WAITS_IN_REDIS.stream(), Stream.of("empty scripts"))
            .toList();

    /** The printed lines about a server, and the stored ones. */
    private record Run(String printed, Report report, Map<String, List<Report.Row>> tables) {}

    private static final Map<Store, Run> RUNS = new EnumMap<>(Store.class);

    @BeforeAll
    static void run() throws Exception {
        for (Store store : Store.values()) {
            RUNS.put(store, run(store));
        }
    }

    private static Run run(Store store) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Report report = Compare.run(store, Rounds.SHORT, List.of(), new PrintStream(out, true, StandardCharsets.UTF_8));
        Map<String, List<Report.Row>> tables = report.rows().stream()
                .collect(Collectors.groupingBy(Report.Row::title, LinkedHashMap::new, Collectors.toList()));
        return new Run(out.toString(StandardCharsets.UTF_8), report, tables);
    }

    @Test
    void each_work_on_postgres_has_a_line_for_everybody_who_can_do_it_and_for_the_ratios() {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        expected.put("free key, 1 thread: round trips per pair", ON_POSTGRES);
        expected.put("free key, 1 thread: flushes of the WAL per pair", ON_POSTGRES);
        expected.putAll(freeAndRefused(ON_POSTGRES));
        expected.put(
                "refused tries: bytes of WAL per try; of the idle server in all",
                Stream.concat(ON_POSTGRES.stream(), Stream.of("idle server")).toList());
        expected.putAll(hot(WHO_WAITS_ON_POSTGRES));
        for (String crowd : List.of(
                "served", "refused by their wait time", "refused by an exception", "seconds until all are through")) {
            expected.put(
                    "20 callers of one key at once, wait time 5 s, empty body: " + crowd,
                    WHO_WAITS_ON_POSTGRES.subList(0, 3));
        }
        expected.putAll(time(WHO_WAITS_ON_POSTGRES));
        expected.put(
                "threads of one process waiting for one key: round trips per hand-over",
                List.of("2 waiting", "10 waiting", "100 waiting", "100 waiting / 2 waiting"));
        expected.put(
                "shared grants of one key, 1 thread: ms per pair of acquire and release",
                List.of("1000 live", "1 live", "1000 live / 1 live"));
        expected.putAll(permits(WITH_PERMITS_ON_POSTGRES));
        List<String> elections = List.of(
                "ttl 1000 ms, heartbeat 333 ms", "ttl 3000 ms, heartbeat 1000 ms", "ttl 3000 ms, heartbeat 250 ms");
        expected.put("leader resigns to the next is elected, ms", elections);
        expected.put("leader is killed to the next is elected, ms", elections);

        assertThat(lines(Store.POSTGRES)).containsExactlyEntriesOf(expected);
    }

    @Test
    void each_work_in_redis_has_a_line_for_everybody_who_can_do_it_and_for_the_ratios() {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        expected.putAll(freeAndRefused(IN_REDIS));
        expected.putAll(hot(WHO_WAITS_IN_REDIS));
        expected.putAll(time(WHO_WAITS_IN_REDIS));
        expected.putAll(permits(WITH_PERMITS_IN_REDIS));

        assertThat(lines(Store.REDIS)).containsExactlyEntriesOf(expected);
    }

    @Test
    void each_work_in_mariadb_has_a_line_for_everybody_who_can_do_it_and_for_the_ratios() {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        for (String cost : List.of("round trips", "statements", "flushes")) {
            expected.put("free key, 1 thread: " + cost + " per pair", IN_MARIADB);
        }
        expected.putAll(freeAndRefused(IN_MARIADB));
        expected.putAll(hot(WHO_WAITS_IN_MARIADB));
        expected.putAll(time(WHO_WAITS_IN_MARIADB));
        expected.put(
                "a key that another process holds: statements per second",
                WHO_WAITS_IN_MARIADB.stream()
                        .flatMap(name -> Stream.of(name + ", held", name + ", held and awaited"))
                        .toList());

        assertThat(lines(Store.MARIADB)).containsExactlyEntriesOf(expected);
    }

    @ParameterizedTest
    @EnumSource
    void everybody_has_done_something(Store store) {
        RUNS.get(store).tables().forEach((title, rows) -> {
            // There may be no WAL and no refusal, and the key may not change hands in such a short time. Processor time
            // may be below
            // the unit of the system, or not available.
            if (Stream.of("WAL", "hand-overs/s", "processor time", "refused by", LEFT_OVER)
                    .noneMatch(title::contains)) {
                assertThat(rows)
                        .as(title)
                        .allSatisfy(row -> assertThat(row.figures())
                                .singleElement()
                                .satisfies(figure ->
                                        assertThat(figure).isPositive().isFinite()));
            }
        });
    }

    /** Rounded, because a pool may test a connection. */
    @Test
    void all_round_trips_of_a_pair_are_counted() {
        assertThat(RUNS.get(Store.POSTGRES).tables().get("free key, 1 thread: round trips per pair"))
                .extracting(row -> row.what() + ": " + Math.round(row.figures().get(0)))
                .containsExactly(
                        "SyncGuard: 2",
                        "ShedLock: 4",
                        "Spring Integration: 6",
                        ADVISORY + ": 2",
                        "raw statements: 2",
                        "empty statements: 2");
    }

    @Test
    void a_pair_of_the_portable_store_takes_three_round_trips() {
        assertThat(RUNS.get(Store.MARIADB).tables().get("free key, 1 thread: round trips per pair"))
                .first()
                .extracting(row -> Math.round(row.figures().get(0)))
                .isEqualTo(3L);
    }

    @Test
    void only_advisory_locks_flush_nothing() {
        List<Report.Row> flushes =
                RUNS.get(Store.POSTGRES).tables().get("free key, 1 thread: flushes of the WAL per pair");

        assertThat(flushes)
                .allSatisfy(row -> assertThat(row.figures().get(0) < 0.1)
                        .as(row.what())
                        .isEqualTo(row.what().equals(ADVISORY)));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB")
    void permits_come_back_from_a_killed_process_and_never_from_a_body_that_runs(Store store) {
        Map<String, List<Report.Row>> tables = RUNS.get(store).tables();

        assertThat(tables.get(LEFT_OVER + "a process that was killed").get(0).figures())
                .containsExactly(8.0);
        assertThat(tables.get(LEFT_OVER + "bodies that still run").get(0).figures())
                .containsExactly(0.0);
    }

    @ParameterizedTest
    @EnumSource
    void latencies_grow_from_the_median_to_the_maximum(Store store) {
        String latency = "free keys, 16 threads: latency of a pair, ms: ";
        Map<String, List<Report.Row>> tables = RUNS.get(store).tables();
        for (int row = 0; row < tables.get(latency + "medians").size(); row++) {
            double max = tables.get(latency + "maxima").get(row).figures().get(0);
            double slowest =
                    tables.get(latency + "99th percentiles").get(row).figures().get(0);
            double median = tables.get(latency + "medians").get(row).figures().get(0);
            assertThat(median).isLessThanOrEqualTo(slowest);
            assertThat(slowest).isLessThanOrEqualTo(max);
        }
    }

    @ParameterizedTest
    @EnumSource
    void virtual_threads_are_measured_or_the_reason_is_printed(Store store) {
        String reason = "free keys, 500 virtual threads: skipped; Java "
                + Runtime.version().feature() + " has no virtual threads";

        assertThat(RUNS.get(store).printed().contains(reason)).isNotEqualTo(VirtualThreads.areThere());
    }

    @ParameterizedTest
    @EnumSource
    void pairs_are_drawn_as_charts(Store store, @TempDir Path directory) throws IOException {
        RUNS.get(store).report().writeCharts(directory);

        String name = "free-keys-" + store.label().toLowerCase(Locale.ROOT);
        assertThat(directory)
                .isDirectoryContaining("glob:**" + name + "-pairs.svg")
                .isDirectoryContaining("glob:**" + name + "-latency.svg")
                .isDirectoryContaining("glob:**" + name + "-ratio.svg");
        assertThat(Files.readString(directory.resolve(name + "-pairs.svg")))
                .contains("SyncGuard", "64 threads", store.label());
    }

    @ParameterizedTest
    @EnumSource
    void every_line_is_printed_below_its_title(Store store) {
        Run run = RUNS.get(store);
        run.tables().forEach((title, rows) -> {
            List<String> texts = new ArrayList<>(List.of(title));
            rows.forEach(row -> texts.add(row.what()));
            assertThat(run.printed()).containsSubsequence(texts);
        });
    }

    private static Map<String, List<String>> lines(Store store) {
        Map<String, List<String>> lines = new LinkedHashMap<>();
        RUNS.get(store)
                .tables()
                .forEach((title, rows) ->
                        lines.put(title, rows.stream().map(Report.Row::what).toList()));
        return lines;
    }

    private static Map<String, List<String>> freeAndRefused(List<String> everybody) {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        List<String> loads = VirtualThreads.areThere()
                ? List.of("1 thread", "16 threads", "64 threads", "500 virtual threads")
                : List.of("1 thread", "16 threads", "64 threads");
        for (String load : loads) {
            String title = "free keys, " + load + ": ";
            expected.put(title + "pairs/s", withRatios(everybody));
            expected.put(title + "latency of a pair, ms: medians", everybody);
            expected.put(title + "latency of a pair, ms: 99th percentiles", withRatios(everybody));
            expected.put(title + "latency of a pair, ms: maxima", everybody);
            expected.put(title + "processor time of the client, microseconds per pair", everybody);
            expected.put(title + "processor time of the server, microseconds per pair", everybody);
        }
        expected.put("refused tries, 1 thread: tries/s", withRatios(everybody));
        return expected;
    }

    private static Map<String, List<String>> hot(List<String> whoWaits) {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        String hotKey = "one hot key, 2 processes of 4 threads, empty body: ";
        expected.put(hotKey + "bodies/s", withRatios(whoWaits));
        expected.put(hotKey + "hand-overs/s to another thread", withRatios(whoWaits));
        expected.put(hotKey + "hand-overs/s to the other process", withRatios(whoWaits));
        String inOneProcess = "one hot key, 1 process of 16 threads, empty body: ";
        List<String> locks =
                whoWaits.stream().filter(name -> !name.startsWith("bare")).toList();
        expected.put(inOneProcess + "bodies/s", withRatios(locks));
        expected.put(inOneProcess + "hand-overs/s to another thread", withRatios(locks));
        return expected;
    }

    private static Map<String, List<String>> time(List<String> whoWaits) {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        List<String> thereAndBack = whoWaits.stream()
                .map(name -> name.startsWith("bare") ? name + ", there and back" : name)
                .toList();
        expected.put("release to the next start in another process, ms: medians", withRatios(thereAndBack));
        expected.put("release to the next start in another process, ms: 99th percentiles", withRatios(thereAndBack));
        return expected;
    }

    private static Map<String, List<String>> permits(List<String> everybody) {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        for (String load : List.of("1 thread", "16 threads", "64 threads")) {
            String title = "one key with 8 permits, " + load + ", empty body: ";
            expected.put(title + "pairs/s", withRatios(everybody));
            expected.put(title + "latency of a pair, ms: 99th percentiles", withRatios(everybody));
            expected.put(title + "processor time of the client, microseconds per pair", everybody);
            expected.put(title + "processor time of the server, microseconds per pair", everybody);
        }
        List<String> andExclusive = Stream.concat(everybody.stream(), Stream.of("SyncGuard, exclusive"))
                .toList();
        String handOver = "one key with 8 permits, release to the next start in another process, ms: ";
        expected.put(handOver + "medians", withRatios(andExclusive));
        expected.put(handOver + "99th percentiles", withRatios(andExclusive));
        expected.put(LEFT_OVER + "a process that was killed", everybody);
        expected.put(LEFT_OVER + "bodies that still run", everybody);
        return expected;
    }

    /** The first of them is compared with each of the others. */
    private static List<String> withRatios(List<String> names) {
        return Stream.concat(names.stream(), names.stream().skip(1).map(other -> names.get(0) + " / " + other))
                .toList();
    }
}
