package io.syncguard.benchmarks;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares SyncGuard with other locks on the same server, in interleaved rounds: see docs/internals/benchmarks.md. It starts the
 * servers; PostgreSQL and MariaDB have durable settings.
 *
 * <p>Arguments: rounds (5), seconds per measurement (4, at most 20, because some leases are not extended), names of
 * measurements (all). Or {@code --short} and names: a short run that shows only that everything works. In addition
 * {@code --charts} and a directory for pictures.
 */
public final class Compare {

    private Compare() {}

    /** Runs the measurements and prints tables. */
    public static void main(String[] args) throws Exception {
        Arguments arguments = Arguments.parse(args);
        List<String> names = arguments.names();
        for (Store store : Store.values()) {
            if (names.isEmpty() || names.stream().anyMatch(measurements(store)::containsKey)) {
                Report report = run(store, arguments.rounds(), names, System.out);
                if (arguments.charts() != null) {
                    report.writeCharts(arguments.charts());
                }
            }
        }
    }

    /** Runs the measurements with these names on one server, or all if there are no names, and prints the results. */
    static Report run(Store store, Rounds rounds, List<String> names, PrintStream out) throws Exception {
        Map<String, Measurement> measurements = measurements(store);
        if (!names.isEmpty()) {
            measurements.keySet().retainAll(names);
        }
        Report report = new Report(out);
        try (Arena arena = new Arena(store, rounds, report)) {
            out.println(
                    arena.server().description() + ", " + Runtime.getRuntime().availableProcessors()
                            + " processors, Java " + Runtime.version() + "; " + rounds.description());
            for (Measurement measurement : measurements.values()) {
                measurement.run(arena);
            }
        }
        return report;
    }

    private static Map<String, Measurement> measurements(Store store) {
        Map<String, Measurement> measurements = new LinkedHashMap<>();
        switch (store) {
            case POSTGRES -> {
                measurements.put("costs", new PairCosts());
                measurements.put("free", new FreeKeys());
                measurements.put("refused", new RefusedTries());
                measurements.put("hot", new HotKey());
                measurements.put("crowd", new Crowd());
                measurements.put("time", new HandOverTime());
                measurements.put("waiting", new WaitingThreads());
                measurements.put("shared", new SharedGrants());
                measurements.put("permits", new Permits());
                measurements.put("leader", new FailOver());
            }
            case REDIS -> {
                measurements.put("redis-free", new FreeKeys());
                measurements.put("redis-refused", new RefusedTries());
                measurements.put("redis-hot", new HotKey());
                measurements.put("redis-time", new HandOverTime());
                measurements.put("redis-permits", new Permits());
            }
            case MARIADB -> {
                measurements.put("mariadb-costs", new MariaDbCosts());
                measurements.put("mariadb-free", new FreeKeys());
                measurements.put("mariadb-refused", new RefusedTries());
                measurements.put("mariadb-hot", new HotKey());
                measurements.put("mariadb-time", new HandOverTime());
                measurements.put("mariadb-waiting", new WaitingProcess());
            }
        }
        return measurements;
    }
}
