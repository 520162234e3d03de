package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Acquires and releases free keys, each thread its own. */
final class FreeKeys implements Measurement {

    private static final int[] THREADS = {1, 16, 64};

    private static final int KEYS_PER_THREAD = 50;

    @Override
    public void run(Arena arena) throws Exception {
        for (int threads : THREADS) {
            measure(arena, threads);
        }
    }

    private static void measure(Arena arena, int threads) throws Exception {
        Map<String, Callable<Double>> measurements = new LinkedHashMap<>();
        for (Peer peer : arena.peers()) {
            measurements.put(
                    peer.label(), () -> pairsPerSecond(arena.contenders().get(peer), threads, arena.rounds()));
        }
        Map<String, List<Double>> pairs = arena.rounds().interleave(measurements);
        arena.report().title("free keys, " + threads + (threads == 1 ? " thread" : " threads") + ": pairs/s");
        arena.report().addWithRatios(pairs);
    }

    private static double pairsPerSecond(Contender contender, int threads, Rounds rounds) throws Exception {
        return Bench.perSecond(
                threads,
                rounds.duration(),
                (thread, count) -> contender.pair("key-" + thread + "-" + count % KEYS_PER_THREAD));
    }
}
