package io.syncguard.check;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/** Measures how long operations take on a server that does nothing else for this check. */
final class Times {

    private static final int ROUNDS = 100;

    private static final Duration TTL = Duration.ofSeconds(30);

    private Times() {}

    /**
     * Medians of the benchmarks in milliseconds, from {@code internal/benchmarks/results}; 0 for what was not measured.
     *
     * @param pair an acquire and a release of a free key
     * @param refused a refused try
     * @param handOver from a release to the next start in another process
     */
    record Benchmark(double pair, double refused, double handOver) {

        static final Benchmark POSTGRES = new Benchmark(0.48, 0.14, 1.63);
        static final Benchmark MARIADB = new Benchmark(1.1, 0, 15);
        static final Benchmark NONE = new Benchmark(0, 0, 0);
        static final Benchmark REDIS = new Benchmark(0.22, 0.13, 0.87);
    }

    /** Returns medians in words, by what was measured. */
    static Map<String, String> measure(Server server, Area area) {
        Map<String, String> times = new LinkedHashMap<>();
        Benchmark benchmark = server.benchmark();
        times.put("round trip", median(server::roundTrip));
        try (LockEngine one = engine(area);
                LockEngine other = engine(area)) {
            LockRequest request = LockRequest.of("times").ttl(TTL).waitTime(TTL);
            times.put("acquire and release of a free key", beside(benchmark.pair(), () -> {
                long from = System.nanoTime();
                one.acquire(request).release();
                return System.nanoTime() - from;
            }));
            LockHandle held = one.acquire(request);
            times.put("refused try", beside(benchmark.refused(), () -> {
                long from = System.nanoTime();
                other.tryAcquire(request);
                return System.nanoTime() - from;
            }));
            held.release();
            times.put(
                    "release to the next holder in another process",
                    beside(benchmark.handOver(), () -> handOver(one, other, request)));
        }
        return times;
    }

    private static LockEngine engine(Area area) {
        return new LockEngine(
                area.contractStore().newBackend(),
                DefaultSettings.of("syncguard-check"),
                TransactionBoundary.NONE,
                List.of());
    }

    private static long handOver(LockEngine one, LockEngine other, LockRequest request) {
        LockHandle held = one.acquire(request);
        CompletableFuture<Long> granted = CompletableFuture.supplyAsync(() -> {
            LockHandle next = other.acquire(request);
            long at = System.nanoTime();
            next.release();
            return at;
        });
        while (waiting(one, request) == 0) {
            Thread.onSpinWait();
        }
        long released = System.nanoTime();
        held.release();
        return granted.join() - released;
    }

    private static int waiting(LockEngine engine, LockRequest request) {
        return engine.admin().status(request.key()).map(LockStatus::waiters).orElse(0);
    }

    private static String beside(double benchmark, LongSupplier measured) {
        String median = median(measured);
        return benchmark == 0 ? median : median + String.format(Locale.ROOT, " (in our benchmarks %.2f ms)", benchmark);
    }

    /** The median in milliseconds. The first tenth is not counted. */
    private static String median(LongSupplier measured) {
        for (int i = 0; i < ROUNDS / 10; i++) {
            measured.getAsLong();
        }
        long[] nanos = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            nanos[i] = measured.getAsLong();
        }
        Arrays.sort(nanos);
        return String.format(Locale.ROOT, "%.2f ms", nanos[ROUNDS / 2] / 1e6);
    }
}
