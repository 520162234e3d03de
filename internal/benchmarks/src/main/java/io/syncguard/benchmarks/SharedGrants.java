package io.syncguard.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** A shared grant and its release, without and with many other shared grants of the same key. */
final class SharedGrants implements Measurement {

    private static final int GRANTS = 1000;

    private static final String ALONE = "1 live";

    private static final String BESIDE = GRANTS + " live";

    @Override
    public void run(Arena arena) throws Exception {
        List<AutoCloseable> others = new ArrayList<>();
        try (SyncGuard locks = new SyncGuard(Bench.application(arena.url(Peer.SYNCGUARD)))) {
            for (int other = 1; other < GRANTS; other++) {
                others.add(locks.share("shared by many"));
            }
            Map<String, Callable<Double>> measurements = new LinkedHashMap<>();
            measurements.put(BESIDE, () -> millis(locks, "shared by many", arena.rounds()));
            measurements.put(ALONE, () -> millis(locks, "shared by one", arena.rounds()));
            Map<String, List<Double>> times = arena.rounds().interleave(measurements);
            arena.report().title("shared grants of one key, 1 thread: ms per pair of acquire and release");
            arena.report().addWithRatios(times);
            for (AutoCloseable other : others) {
                other.close();
            }
        }
    }

    private static double millis(SyncGuard locks, String key, Rounds rounds) throws Exception {
        return 1000
                / Bench.perSecond(
                        1,
                        rounds.duration(),
                        (thread, count) -> locks.share(key).close());
    }
}
