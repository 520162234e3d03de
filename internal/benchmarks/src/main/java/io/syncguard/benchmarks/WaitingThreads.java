package io.syncguard.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The cost of a hand-over at the server, by the number of threads of one process that wait for the key. */
final class WaitingThreads implements Measurement {

    private static final int[] WAITERS = {2, 10, 100};

    private static final String DATABASE = "syncguard_waiting";

    /** The minimum number of hand-overs in a measurement. */
    private static final int FEWEST = 10;

    private static final long BODY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    @Override
    public void run(Arena arena) throws Exception {
        String url = arena.postgres().newCountedDatabase(Peer.SYNCGUARD, DATABASE);
        try (SyncGuard locks = new SyncGuard(Bench.application(url))) {
            Map<String, Callable<Double>> measurements = new LinkedHashMap<>();
            for (int waiters : WAITERS) {
                measurements.put(waiters + " waiting", () -> tripsPerHandOver(arena, locks, waiters));
            }
            Map<String, List<Double>> trips = arena.rounds().interleave(measurements);
            arena.report().title("threads of one process waiting for one key: round trips per hand-over");
            trips.forEach(arena.report()::add);
            arena.report().addRatio("100 waiting", "2 waiting", trips);
        }
    }

    private static double tripsPerHandOver(Arena arena, SyncGuard locks, int waiters) throws Exception {
        AtomicLong handOvers = new AtomicLong();
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService executor = Executors.newFixedThreadPool(waiters + 1);
        try {
            List<Future<?>> threads = new ArrayList<>();
            for (int thread = 0; thread <= waiters; thread++) {
                threads.add(executor.submit(() -> {
                    while (!over.get()) {
                        locks.await("waited for", () -> work(handOvers));
                    }
                }));
            }
            double trips = tripsPerHandOver(arena, handOvers);
            over.set(true);
            for (Future<?> thread : threads) {
                thread.get();
            }
            return trips;
        } finally {
            over.set(true);
            executor.shutdown();
        }
    }

    private static double tripsPerHandOver(Arena arena, AtomicLong handOvers) throws InterruptedException {
        // By then all threads wait.
        TimeUnit.NANOSECONDS.sleep(arena.rounds().duration().toNanos() / 4);
        long handOversBefore = handOvers.get();
        long before = arena.postgres().roundTrips(DATABASE);
        do {
            TimeUnit.NANOSECONDS.sleep(arena.rounds().duration().toNanos());
        } while (handOvers.get() < handOversBefore + FEWEST);
        return (double) (arena.postgres().roundTrips(DATABASE) - before) / (handOvers.get() - handOversBefore);
    }

    private static void work(AtomicLong handOvers) {
        handOvers.incrementAndGet();
        LockSupport.parkNanos(BODY_NANOS);
    }
}
