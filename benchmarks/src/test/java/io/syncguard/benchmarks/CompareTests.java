package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Shows that the comparison runs and that everybody takes part, not how fast anybody is. */
class CompareTests {

    private static final List<String> EVERYBODY =
            List.of("SyncGuard", "ShedLock", "Spring Integration", "raw statements");

    private static final List<String> WHO_WAITS =
            List.of("SyncGuard", "Spring Integration", "bare NOTIFY", "bare NOTIFY, prompt socket");

    private static String printed;
    private static Map<String, List<Report.Row>> tables;

    @BeforeAll
    static void run() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Report report = Compare.run(Rounds.SHORT, List.of(), new PrintStream(out, true, StandardCharsets.UTF_8));
        printed = out.toString(StandardCharsets.UTF_8);
        tables = report.rows().stream()
                .collect(Collectors.groupingBy(Report.Row::title, LinkedHashMap::new, Collectors.toList()));
    }

    @Test
    void each_work_has_a_line_for_everybody_who_can_do_it_and_for_the_ratios() {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        expected.put("free key, 1 thread: round trips per pair", EVERYBODY);
        expected.put("free key, 1 thread: flushes of the WAL per pair", EVERYBODY);
        expected.put("free keys, 1 thread: pairs/s", withRatios(EVERYBODY));
        expected.put("free keys, 16 threads: pairs/s", withRatios(EVERYBODY));
        expected.put("free keys, 64 threads: pairs/s", withRatios(EVERYBODY));
        expected.put("refused tries, 1 thread: tries/s", withRatios(EVERYBODY));
        expected.put(
                "refused tries: bytes of WAL per try; of the idle server in all",
                Stream.concat(EVERYBODY.stream(), Stream.of("idle server")).toList());
        String hotKey = "one hot key, 2 processes of 4 threads, empty body: ";
        expected.put(hotKey + "bodies/s", withRatios(WHO_WAITS));
        expected.put(hotKey + "hand-overs/s to another thread", withRatios(WHO_WAITS));
        expected.put(hotKey + "hand-overs/s to the other process", withRatios(WHO_WAITS));
        expected.put("release to the next start in another process, ms: medians", withRatios(thereAndBack()));
        expected.put("release to the next start in another process, ms: 99th percentiles", withRatios(thereAndBack()));
        expected.put(
                "threads of one process waiting for one key: round trips per hand-over",
                List.of("2 waiting", "10 waiting", "100 waiting", "100 waiting / 2 waiting"));
        expected.put(
                "shared grants of one key, 1 thread: ms per pair of acquire and release",
                List.of("1000 live", "1 live", "1000 live / 1 live"));

        assertThat(lines()).containsExactlyEntriesOf(expected);
    }

    @Test
    void everybody_has_done_something() {
        tables.forEach((title, rows) -> {
            // Nothing need have been written, and the key need not have changed hands in such a short time.
            if (!title.contains("bytes of WAL") && !title.contains("hand-overs/s")) {
                assertThat(rows)
                        .as(title)
                        .allSatisfy(row -> assertThat(row.figures())
                                .singleElement()
                                .satisfies(figure ->
                                        assertThat(figure).isPositive().isFinite()));
            }
        });
    }

    @Test
    void every_line_is_printed_below_its_title() {
        tables.forEach((title, rows) -> {
            List<String> texts = new ArrayList<>(List.of(title));
            rows.forEach(row -> texts.add(row.what()));
            assertThat(printed).containsSubsequence(texts);
        });
    }

    private static Map<String, List<String>> lines() {
        Map<String, List<String>> lines = new LinkedHashMap<>();
        tables.forEach((title, rows) ->
                lines.put(title, rows.stream().map(Report.Row::what).toList()));
        return lines;
    }

    private static List<String> thereAndBack() {
        return WHO_WAITS.stream()
                .map(name -> name.startsWith("bare") ? name + ", there and back" : name)
                .toList();
    }

    /** The first of them is compared with each of the others. */
    private static List<String> withRatios(List<String> names) {
        return Stream.concat(names.stream(), names.stream().skip(1).map(other -> names.get(0) + " / " + other))
                .toList();
    }
}
