package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * The length and the number of the measurements.
 *
 * @param count of the rounds that count
 * @param duration of one measurement
 * @param warmUp whether a round before them does not count
 */
record Rounds(int count, Duration duration, boolean warmUp) {

    /** Just enough to see that everything works. */
    static final Rounds SHORT = new Rounds(1, Duration.ofMillis(100), false);

    /** The JVM compiles the code of a busy lock for as long as this once it runs. */
    private static final Duration COMPILATION = Duration.ofSeconds(20);

    /** A description for people. */
    String description() {
        String measured = count + " x " + duration.toMillis() / 1000.0 + " s";
        return warmUp
                ? measured + " after one to warm up"
                : measured + " without warming up: shows that it works, not how fast";
    }

    /**
     * Measures each of them once in every round, each round starting with another one: changes during a run, on this
     * machine or in the tables, affect all of them.
     *
     * @return the results, round by round
     */
    <T> Map<String, List<T>> interleave(Map<String, Callable<T>> measurements) throws Exception {
        return interleave(measurements, 1);
    }

    /** The same for code that its process has not run before: it warms up until the code is compiled. */
    <T> Map<String, List<T>> interleaveOnNewCode(Map<String, Callable<T>> measurements) throws Exception {
        return interleave(measurements, 1 + (COMPILATION.toMillis() - 1) / duration.toMillis());
    }

    private <T> Map<String, List<T>> interleave(Map<String, Callable<T>> measurements, long warmUps) throws Exception {
        Map<String, List<T>> found = new LinkedHashMap<>();
        measurements.keySet().forEach(each -> found.put(each, new ArrayList<>()));
        List<Map.Entry<String, Callable<T>>> all = List.copyOf(measurements.entrySet());
        for (long round = warmUp ? -warmUps : 0; round < count; round++) {
            for (int turn = 0; turn < all.size(); turn++) {
                Map.Entry<String, Callable<T>> next = all.get(Math.floorMod(round + turn, all.size()));
                T value = next.getValue().call();
                if (round >= 0) {
                    found.computeIfAbsent(next.getKey(), name -> new ArrayList<>())
                            .add(value);
                }
            }
        }
        return found;
    }
}
