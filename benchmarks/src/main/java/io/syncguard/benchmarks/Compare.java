package io.syncguard.benchmarks;

import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures SyncGuard side by side with ShedLock, Spring Integration and raw statements, on a PostgreSQL of its own with
 * durable settings, in interleaved rounds: see docs/benchmarks.md.
 *
 * <p>Arguments: rounds (5), seconds per measurement (4, at most 20: some leases are not extended), names of measurements
 * (all). Or {@code --short}, which shows that everything works, not how fast.
 */
public final class Compare {

    private static final int MOST_SECONDS = 20;

    private Compare() {}

    /** Runs it and prints tables. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("--short")) {
            run(Rounds.SHORT, List.of(), System.out);
            return;
        }
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 4;
        if (rounds < 1 || seconds < 1 || seconds > MOST_SECONDS) {
            throw new IllegalArgumentException("At least 1 round, of 1 to " + MOST_SECONDS + " seconds");
        }
        List<String> names = args.length > 2 ? List.of(args).subList(2, args.length) : List.of();
        run(new Rounds(rounds, Duration.ofSeconds(seconds), true), names, System.out);
    }

    /** Runs the measurements of these names, or all if there are none, and prints what they find. */
    static Report run(Rounds rounds, List<String> names, PrintStream out) throws Exception {
        Map<String, Measurement> measurements = measurements();
        if (!names.isEmpty()) {
            measurements.keySet().retainAll(names);
        }
        Report report = new Report(out);
        try (Arena arena = new Arena(rounds, report)) {
            out.println(
                    arena.server().description() + ", " + Runtime.getRuntime().availableProcessors()
                            + " processors, Java " + Runtime.version() + "; " + rounds.description());
            for (Measurement measurement : measurements.values()) {
                measurement.run(arena);
            }
        }
        return report;
    }

    private static Map<String, Measurement> measurements() {
        Map<String, Measurement> measurements = new LinkedHashMap<>();
        measurements.put("costs", new PairCosts());
        measurements.put("free", new FreeKeys());
        measurements.put("refused", new RefusedTries());
        measurements.put("hot", new HotKey());
        measurements.put("time", new HandOverTime());
        measurements.put("waiting", new WaitingThreads());
        measurements.put("shared", new SharedGrants());
        return measurements;
    }
}
