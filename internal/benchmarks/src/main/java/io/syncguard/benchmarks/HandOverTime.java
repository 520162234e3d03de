package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * The time from the end of a body in one process to the beginning of the next body in another process, which waits.
 * Compared with bare notifications.
 */
final class HandOverTime implements Measurement {

    @Override
    public void run(Arena arena) throws Exception {
        TwoProcesses processes = arena.processes();
        Map<String, Callable<List<Double>>> measurements = new LinkedHashMap<>();
        for (Peer peer : processes.peers()) {
            measurements.put(
                    peer.label(), () -> processes.handOver(peer, arena.rounds().duration()));
        }
        for (Bare bare : processes.bare()) {
            measurements.put(
                    bare.label() + ", there and back",
                    () -> processes.callWithPauses(bare, arena.rounds().duration()));
        }
        Map<String, List<List<Double>>> times = arena.rounds().interleave(measurements);
        report(arena.report(), "release to the next start in another process, ms", times);
    }

    static void report(Report report, String title, Map<String, List<List<Double>>> times) {
        report.title(title + ": medians");
        report.addWithRatios(Report.figures(times, round -> quantile(round, 0.5)));
        report.title(title + ": 99th percentiles");
        report.addWithRatios(Report.figures(times, round -> quantile(round, 0.99)));
    }

    private static double quantile(List<Double> times, double quantile) {
        return times.stream().sorted().toList().get((int) (quantile * times.size()));
    }
}
