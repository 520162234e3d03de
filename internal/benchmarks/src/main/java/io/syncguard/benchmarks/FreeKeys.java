package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Acquires and releases free keys. Each thread has its own keys. */
final class FreeKeys implements Measurement {

    private static final List<Load> LOADS = List.of(Load.of(1), Load.of(16), Load.of(64), new Load(500, true));

    private static final int KEYS_PER_THREAD = 50;

    /** The first grant of a key costs more, so the warm-up round must reach all keys. */
    private static final int MOST_KEYS = 3200;

    @Override
    public void run(Arena arena) throws Exception {
        Map<String, Map<String, List<Double>>> pairs = new LinkedHashMap<>();
        Map<String, Map<String, List<Double>>> latencies = new LinkedHashMap<>();
        for (Load load : LOADS) {
            String title = "free keys, " + load.label();
            if (load.isPossible()) {
                Map<String, List<PairSample>> found = measure(arena, load);
                report(arena.report(), title + ": ", found);
                pairs.put(load.label(), pairsPerSecond(found));
                latencies.put(load.label(), slowest(found));
            } else {
                arena.report().skip(title, "Java " + Runtime.version().feature() + " has no virtual threads");
            }
        }
        new PairCharts(arena.store(), pairs, latencies).addTo(arena.report());
    }

    private static Map<String, List<PairSample>> measure(Arena arena, Load load) throws Exception {
        Map<String, Callable<PairSample>> measurements = new LinkedHashMap<>();
        for (Peer peer : arena.peers()) {
            Contender contender = arena.contenders().get(peer);
            measurements.put(
                    peer.label(), () -> PairSample.of(arena.server(), () -> pairs(contender, load, arena.rounds())));
        }
        return load == LOADS.get(0)
                ? arena.rounds().interleaveOnNewCode(measurements)
                : arena.rounds().interleave(measurements);
    }

    private static Pace pairs(Contender contender, Load load, Rounds rounds) throws Exception {
        int keys = Math.min(KEYS_PER_THREAD, MOST_KEYS / load.threads());
        return load.run(rounds.duration(), (thread, count) -> contender.pair("key-" + thread + "-" + count % keys));
    }

    private static void report(Report report, String title, Map<String, List<PairSample>> found) {
        report.title(title + "pairs/s");
        report.addWithRatios(pairsPerSecond(found));
        report.title(title + "latency of a pair, ms: medians");
        Report.figures(found, sample -> sample.pace().percentile(50)).forEach(report::add);
        report.title(title + "latency of a pair, ms: 99th percentiles");
        report.addWithRatios(slowest(found));
        report.title(title + "latency of a pair, ms: maxima");
        Report.figures(found, sample -> sample.pace().max()).forEach(report::add);
        report.title(title + "processor time of the client, microseconds per pair");
        Report.figures(found, PairSample::clientMicros).forEach(report::add);
        report.title(title + "processor time of the server, microseconds per pair");
        Report.figures(found, PairSample::serverMicros).forEach(report::add);
    }

    private static Map<String, List<Double>> pairsPerSecond(Map<String, List<PairSample>> found) {
        return Report.figures(found, sample -> sample.pace().perSecond());
    }

    private static Map<String, List<Double>> slowest(Map<String, List<PairSample>> found) {
        return Report.figures(found, sample -> sample.pace().percentile(99));
    }
}
