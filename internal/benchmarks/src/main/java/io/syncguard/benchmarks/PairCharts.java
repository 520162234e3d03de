package io.syncguard.benchmarks;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/**
 * The charts of pairs on free keys.
 *
 * @param pairs per second in each round, by the label of the load and that of the candidate
 * @param latencies 99th percentiles in milliseconds in the same order
 */
record PairCharts(
        Store store, Map<String, Map<String, List<Double>>> pairs, Map<String, Map<String, List<Double>>> latencies) {

    void addTo(Report report) {
        String name = "free-keys-" + store.label().toLowerCase(Locale.ROOT);
        report.add(name + "-pairs", pairsPerSecond());
        report.add(name + "-latency", latency());
        report.add(name + "-ratio", ratios());
    }

    BarChart pairsPerSecond() {
        Map<String, Map<String, Double>> bars = bars(pairs, candidates -> candidates);
        return new BarChart(
                title("pairs per second"),
                "pairs per second, median of the rounds; longer is better",
                Axis.linear(values(bars).max().orElseThrow()),
                bars);
    }

    BarChart latency() {
        Map<String, Map<String, Double>> bars = bars(latencies, candidates -> candidates);
        return new BarChart(
                title("latency of 99 % of the pairs"),
                "99th percentile in milliseconds, median of the rounds, logarithmic scale; shorter is better",
                Axis.logarithmic(
                        values(bars).min().orElseThrow(), values(bars).max().orElseThrow()),
                bars);
    }

    BarChart ratios() {
        String reference = store.reference().label();
        Map<String, Map<String, Double>> bars = bars(pairs, candidates -> ratios(candidates, reference));
        return new BarChart(
                title("compared to " + reference),
                "pairs per second divided by those of " + reference + ", median of the rounds; longer is better",
                Axis.linear(values(bars).max().orElseThrow()),
                bars);
    }

    private String title(String what) {
        return "Acquire and release of free keys on " + store.label() + ": " + what;
    }

    private static Map<String, List<Double>> ratios(Map<String, List<Double>> candidates, String reference) {
        Map<String, List<Double>> ratios = new LinkedHashMap<>();
        candidates.keySet().forEach(name -> ratios.put(name, Report.ratios(name, reference, candidates)));
        return ratios;
    }

    /** The median of each candidate's converted figures. */
    private static Map<String, Map<String, Double>> bars(
            Map<String, Map<String, List<Double>>> figures,
            Function<Map<String, List<Double>>, Map<String, List<Double>>> change) {
        Map<String, Map<String, Double>> bars = new LinkedHashMap<>();
        figures.forEach((load, candidates) -> {
            Map<String, Double> medians = new LinkedHashMap<>();
            change.apply(candidates).forEach((name, rounds) -> medians.put(name, Bench.median(rounds)));
            bars.put(load, medians);
        });
        return bars;
    }

    private static DoubleStream values(Map<String, Map<String, Double>> bars) {
        return bars.values().stream()
                .map(Map::values)
                .flatMap(Collection::stream)
                .mapToDouble(value -> value);
    }
}
