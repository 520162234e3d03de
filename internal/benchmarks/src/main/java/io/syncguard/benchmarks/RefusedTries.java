package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** One thread repeatedly tries a key that another instance holds. */
final class RefusedTries implements Measurement {

    private static final String KEY = "held";

    private static final String IDLE = "idle server";

    /**
     * The result of one measurement.
     *
     * @param perSecond number of refused tries per second
     * @param bytes WAL per try in bytes, zero without WAL; for the idle server, all WAL in the time of a measurement
     */
    private record Found(double perSecond, double bytes) {}

    @Override
    public void run(Arena arena) throws Exception {
        Contenders callers = arena.contenders();
        try (Contenders holders = new Contenders(arena)) {
            Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
            for (Peer peer : arena.peers()) {
                measurements.put(peer.label(), () -> tries(arena, holders.get(peer), callers.get(peer)));
            }
            if (arena.store() == Store.POSTGRES) {
                measurements.put(IDLE, () -> idle(arena));
            }
            report(arena, arena.rounds().interleave(measurements));
        }
    }

    private static void report(Arena arena, Map<String, List<Found>> found) {
        Map<String, List<Double>> tries = new LinkedHashMap<>();
        Map<String, List<Double>> bytes = new LinkedHashMap<>();
        found.forEach((name, each) -> {
            if (!name.equals(IDLE)) {
                tries.put(name, each.stream().map(Found::perSecond).toList());
            }
            bytes.put(name, each.stream().map(Found::bytes).toList());
        });
        arena.report().title("refused tries, 1 thread: tries/s");
        arena.report().addWithRatios(tries);
        if (arena.store() == Store.POSTGRES) {
            arena.report().title("refused tries: bytes of WAL per try; of the idle server in all");
            bytes.forEach(arena.report()::add);
        }
    }

    private static Found tries(Arena arena, Contender holder, Contender caller) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            Future<Boolean> hold = executor.submit(() -> holder.attempt(KEY, () -> {
                held.countDown();
                awaitEnd(over);
            }));
            while (!held.await(1, TimeUnit.SECONDS)) {
                if (hold.isDone()) {
                    throw new IllegalStateException("The key could not be held: granted " + hold.get());
                }
            }
            Found found = refused(arena, caller);
            over.countDown();
            hold.get();
            return found;
        } finally {
            over.countDown();
            executor.shutdown();
        }
    }

    private static Found refused(Arena arena, Contender caller) throws Exception {
        Duration duration = arena.rounds().duration();
        long before = walBytes(arena);
        double perSecond = Bench.perSecond(1, duration, (thread, count) -> {
            if (caller.attempt(KEY, () -> {})) {
                throw new IllegalStateException("Granted, although the key is held");
            }
        });
        long bytes = walBytes(arena) - before;
        return new Found(perSecond, bytes / Math.max(1, perSecond * duration.toNanos() / 1e9));
    }

    private static Found idle(Arena arena) throws InterruptedException {
        long before = walBytes(arena);
        TimeUnit.NANOSECONDS.sleep(arena.rounds().duration().toNanos());
        return new Found(0, walBytes(arena) - before);
    }

    private static long walBytes(Arena arena) {
        return arena.store() == Store.POSTGRES ? arena.postgres().walBytes() : 0;
    }

    private static void awaitEnd(CountDownLatch over) {
        try {
            over.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
