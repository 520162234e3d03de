package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;

/**
 * Threads of two processes, and of one, contend for one key with an empty body. Measures bodies and hand-overs per
 * second. Compares two processes with bare notifications, too.
 */
final class HotKey implements Measurement {

    private static final int THREADS_OF_EACH = 4;

    private static final int THREADS_OF_ONE = 16;

    /** The result of one measurement, per second. */
    private record Found(double bodies, double toOthers, double across) {}

    @Override
    public void run(Arena arena) throws Exception {
        twoProcesses(arena, arena.processes());
        oneProcess(arena, arena.processes());
    }

    private static void twoProcesses(Arena arena, TwoProcesses processes) throws Exception {
        String title = "one hot key, 2 processes of " + THREADS_OF_EACH + " threads, empty body: ";
        Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
        for (Peer peer : processes.peers()) {
            measurements.put(
                    peer.label(),
                    () -> found(
                            processes.contend(
                                    peer, THREADS_OF_EACH, arena.rounds().duration()),
                            arena.rounds()));
        }
        for (Bare bare : processes.bare()) {
            measurements.put(bare.label(), () -> notifications(processes, bare, arena.rounds()));
        }
        Map<String, List<Found>> found = arena.rounds().interleaveOnNewCode(measurements);
        report(arena.report(), title + "bodies/s", found, Found::bodies);
        report(arena.report(), title + "hand-overs/s to another thread", found, Found::toOthers);
        report(arena.report(), title + "hand-overs/s to the other process", found, Found::across);
    }

    private static void oneProcess(Arena arena, TwoProcesses processes) throws Exception {
        String title = "one hot key, 1 process of " + THREADS_OF_ONE + " threads, empty body: ";
        Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
        for (Peer peer : processes.peers()) {
            measurements.put(
                    peer.label(),
                    () -> found(
                            processes.contendInOne(
                                    peer, THREADS_OF_ONE, arena.rounds().duration()),
                            arena.rounds()));
        }
        Map<String, List<Found>> found = arena.rounds().interleave(measurements);
        report(arena.report(), title + "bodies/s", found, Found::bodies);
        report(arena.report(), title + "hand-overs/s to another thread", found, Found::toOthers);
    }

    private static void report(
            Report report, String title, Map<String, List<Found>> found, Function<Found, Double> figure) {
        report.title(title);
        report.addWithRatios(Report.figures(found, figure));
    }

    private static Found found(HandOvers handOvers, Rounds rounds) {
        double seconds = seconds(rounds);
        return new Found(handOvers.bodies() / seconds, handOvers.toOthers() / seconds, handOvers.across() / seconds);
    }

    /** A hand-over takes at least one notification. A call and its echo are two. */
    private static Found notifications(TwoProcesses processes, Bare bare, Rounds rounds) {
        double perSecond =
                2 * processes.callWithoutPauses(bare, rounds.duration()).size() / seconds(rounds);
        return new Found(perSecond, perSecond, perSecond);
    }

    private static double seconds(Rounds rounds) {
        return rounds.duration().toNanos() / 1e9;
    }
}
