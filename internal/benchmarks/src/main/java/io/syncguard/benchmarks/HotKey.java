package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Two processes contend for one key with an empty body: hand-overs per second, and those of bare notifications. */
final class HotKey implements Measurement {

    private static final int THREADS_OF_EACH = 4;

    /** The result of one measurement, per second. */
    private record Found(double bodies, double toOthers, double across) {}

    @Override
    public void run(Arena arena) throws Exception {
        TwoProcesses processes = arena.processes();
        Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
        for (Peer peer : processes.peers()) {
            measurements.put(peer.label(), () -> handOvers(processes, peer, arena.rounds()));
        }
        for (Bare bare : processes.bare()) {
            measurements.put(bare.label(), () -> notifications(processes, bare, arena.rounds()));
        }
        Map<String, List<Found>> found = arena.rounds().interleave(measurements);
        report(arena.report(), "bodies/s", found, Found::bodies);
        report(arena.report(), "hand-overs/s to another thread", found, Found::toOthers);
        report(arena.report(), "hand-overs/s to the other process", found, Found::across);
    }

    private static void report(
            Report report, String what, Map<String, List<Found>> found, Function<Found, Double> figure) {
        report.title("one hot key, 2 processes of 4 threads, empty body: " + what);
        report.addWithRatios(Report.figures(found, figure));
    }

    private static Found handOvers(TwoProcesses processes, Peer peer, Rounds rounds) {
        HandOvers handOvers = processes.contend(peer, THREADS_OF_EACH, rounds.duration());
        double seconds = seconds(rounds);
        return new Found(handOvers.bodies() / seconds, handOvers.toOthers() / seconds, handOvers.across() / seconds);
    }

    /** A hand-over takes one notification at least, and a call there and back is two. */
    private static Found notifications(TwoProcesses processes, Bare bare, Rounds rounds) {
        double perSecond = 2 * processes.callInARow(bare, rounds.duration()).size() / seconds(rounds);
        return new Found(perSecond, perSecond, perSecond);
    }

    private static double seconds(Rounds rounds) {
        return rounds.duration().toNanos() / 1e9;
    }
}
