package io.syncguard.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The results. Prints each one at once, and keeps it. */
final class Report {

    /** A line of a table, with the figures of all rounds. */
    record Row(String title, String what, List<Double> figures) {}

    private final PrintStream out;
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, BarChart> charts = new LinkedHashMap<>();
    private String title = "";

    Report(PrintStream out) {
        this.out = out;
    }

    /** Begins a table. */
    void title(String title) {
        this.title = title;
        out.printf("%n%s%n", title);
    }

    /** Adds a line of figures, one per round. */
    void add(String what, List<Double> figures) {
        rows.add(new Row(title, what, List.copyOf(figures)));
        out.println(Bench.line("  " + what, figures));
    }

    /** Adds a line for each candidate, and below them the ratio of the first to each of the others. */
    void addWithRatios(Map<String, List<Double>> figures) {
        figures.forEach(this::add);
        String first = figures.keySet().iterator().next();
        figures.keySet().stream().skip(1).forEach(other -> addRatio(first, other, figures));
    }

    /** Takes one figure from each candidate's results, round by round. */
    static <T> Map<String, List<Double>> figures(Map<String, List<T>> found, Function<T, Double> figure) {
        Map<String, List<Double>> figures = new LinkedHashMap<>();
        found.forEach(
                (name, rounds) -> figures.put(name, rounds.stream().map(figure).toList()));
        return figures;
    }

    /** Prints why a table is missing. */
    void skip(String what, String reason) {
        out.printf("%n%s: skipped; %s%n", what, reason);
    }

    /** Adds the ratio of two candidates, round by round. */
    void addRatio(String name, String other, Map<String, List<Double>> figures) {
        add(name + " / " + other, ratios(name, other, figures));
    }

    /** The ratio of two candidates, round by round. */
    static List<Double> ratios(String name, String other, Map<String, List<Double>> figures) {
        List<Double> own = figures.getOrDefault(name, List.of());
        List<Double> others = figures.getOrDefault(other, List.of());
        return IntStream.range(0, own.size())
                .mapToObj(round -> own.get(round) / others.get(round))
                .toList();
    }

    /** Keeps a chart without printing it. */
    void add(String name, BarChart chart) {
        charts.put(name, chart);
    }

    /** Writes each chart to a file in the directory, and prints the path. */
    void writeCharts(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Map.Entry<String, BarChart> chart : charts.entrySet()) {
            Path file = directory.resolve(chart.getKey() + ".svg");
            Files.writeString(file, chart.getValue().svg());
            out.println(file);
        }
    }

    List<Row> rows() {
        return rows;
    }
}
