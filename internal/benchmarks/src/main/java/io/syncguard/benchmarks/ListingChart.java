package io.syncguard.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws the picture of docs/internals/benchmarks.md from the text of the results: pairs per second on free keys of SyncGuard and
 * of other locks, on both stores. Arguments: the text and the picture.
 */
public final class ListingChart {

    private static final Pattern STORE = Pattern.compile("(PostgreSQL|Redis) \\d.*");

    private static final Pattern TITLE = Pattern.compile("free keys, (1 thread|64 threads): pairs/s");

    private static final Pattern MEDIAN = Pattern.compile(" {2}(\\S.*?) +min +[\\d.]+ +median +([\\d.]+) .*");

    /** Candidates that are no locks: they show the limit of the server. */
    private static final Set<String> NO_LOCKS = Set.of("raw statements", "empty statements", "empty scripts");

    private ListingChart() {}

    public static void main(String[] args) throws IOException {
        Files.writeString(Path.of(args[1]), svg(Files.readAllLines(Path.of(args[0]))));
    }

    static String svg(List<String> listing) {
        Map<String, Map<String, Double>> bars = bars(listing);
        double longest = bars.values().stream()
                .flatMap(group -> group.values().stream())
                .mapToDouble(value -> value)
                .max()
                .orElseThrow();
        return new BarChart(
                        "Acquire and release of free keys",
                        "pairs per second, median of the rounds; longer is better",
                        Axis.linear(longest),
                        bars)
                .svg();
    }

    private static Map<String, Map<String, Double>> bars(List<String> listing) {
        Map<String, Map<String, Double>> bars = new LinkedHashMap<>();
        String store = "";
        String group = "";
        for (String line : listing) {
            Matcher first = STORE.matcher(line);
            Matcher title = TITLE.matcher(line);
            Matcher median = MEDIAN.matcher(line);
            if (first.matches()) {
                store = first.group(1);
            } else if (title.matches()) {
                group = store + ", " + title.group(1);
            } else if (!median.matches()) {
                group = "";
            } else if (!group.isEmpty() && isLock(median.group(1))) {
                bars.computeIfAbsent(group, each -> new LinkedHashMap<>())
                        .put(median.group(1), Double.valueOf(median.group(2)));
            }
        }
        return bars;
    }

    /** Whether the line is one of a lock. The ratio of two candidates has a slash in its name. */
    private static boolean isLock(String name) {
        return !name.contains("/ ") && !NO_LOCKS.contains(name);
    }
}
