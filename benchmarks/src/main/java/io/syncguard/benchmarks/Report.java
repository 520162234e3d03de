package io.syncguard.benchmarks;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The results: printed as they arrive, and stored. */
final class Report {

    /** A line: the figures of all rounds. */
    record Row(String title, String what, List<Double> figures) {}

    private final PrintStream out;
    private final List<Row> rows = new ArrayList<>();
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

    /** Adds the ratio of two, round by round. */
    void addRatio(String name, String other, Map<String, List<Double>> figures) {
        List<Double> own = figures.getOrDefault(name, List.of());
        List<Double> others = figures.getOrDefault(other, List.of());
        add(
                name + " / " + other,
                IntStream.range(0, own.size())
                        .mapToObj(round -> own.get(round) / others.get(round))
                        .toList());
    }

    List<Row> rows() {
        return rows;
    }
}
