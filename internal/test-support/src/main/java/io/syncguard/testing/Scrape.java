package io.syncguard.testing;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The metrics of a Prometheus scrape, each with its labels and their values. */
public final class Scrape {

    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)(?:\\{(.*)})? \\S+$");

    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"([^\"]*)\"");

    private final Map<String, Map<String, Set<String>>> metrics = new TreeMap<>();

    public Scrape(String text) {
        SAMPLE.matcher(text).results().forEach(this::add);
    }

    public Set<String> metrics() {
        return metrics.keySet();
    }

    /** The labels of a metric. */
    public Set<String> labels(String metric) {
        return metrics.getOrDefault(metric, Map.of()).keySet();
    }

    /** The values of a label of a metric. */
    public Set<String> values(String metric, String label) {
        return metrics.getOrDefault(metric, Map.of()).getOrDefault(label, Set.of());
    }

    private void add(MatchResult sample) {
        Map<String, Set<String>> labels = metrics.computeIfAbsent(sample.group(1), name -> new TreeMap<>());
        if (sample.group(2) != null) {
            LABEL.matcher(sample.group(2))
                    .results()
                    .forEach(label -> labels.computeIfAbsent(label.group(1), name -> new TreeSet<>())
                            .add(label.group(2)));
        }
    }
}
