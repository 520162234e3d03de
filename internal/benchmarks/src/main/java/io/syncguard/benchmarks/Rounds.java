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
 * @param count number of rounds that count
 * @param duration the duration of one measurement
 * @param warmUp whether an additional first round does not count
 */
record Rounds(int count, Duration duration, boolean warmUp) {

    /** Short rounds that only show that everything works. */
    static final Rounds SHORT = new Rounds(1, Duration.ofMillis(100), false);

    /** The JVM may take this long to compile the code of a busy lock. */
    private static final Duration COMPILATION = Duration.ofSeconds(20);

    /** A description for people. */
    String description() {
        String measured = count + " x " + duration.toMillis() / 1000.0 + " s";
        return warmUp
                ? measured + " after one to warm up"
                : measured + " without warming up: shows that it works, not how fast";
    }

    /**
     * Runs every measurement once per round, and starts each round with another one. So changes of the machine or the
     * tables during a run affect all measurements.
     *
     * @return the results, round by round
     */
    <T> Map<String, List<T>> interleave(Map<String, Callable<T>> measurements) throws Exception {
        return interleave(measurements, 1);
    }

    /** The same for code that its process has not run before. It warms up until the JVM has compiled the code. */
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
