package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many threads of one process request one key at the same moment: who is served, and why the others are refused. */
final class Crowd implements Measurement {

    private static final Duration WAIT_TIME = Duration.ofSeconds(5);

    private static final int CALLERS = 2000;

    /** The number of callers in a short run. */
    private static final int FEW_CALLERS = 20;

    private enum Outcome {
        SERVED,
        WAITED_IN_VAIN,
        FAILED
    }

    /** @param seconds time until the last caller had its outcome */
    private record Found(List<Outcome> outcomes, double seconds) {
        double count(Outcome outcome) {
            return outcomes.stream().filter(each -> each == outcome).count();
        }
    }

    @Override
    public void run(Arena arena) throws Exception {
        int callers = arena.rounds().warmUp() ? CALLERS : FEW_CALLERS;
        String url = arena.url(Peer.SYNCGUARD);
        try (PatientContender own = new SyncGuard(Bench.applicationWithDefaults(url));
                Contender other = Peer.SPRING_INTEGRATION.open(arena.url(Peer.SPRING_INTEGRATION));
                Contender busy = Peer.SPRING_INTEGRATION_1_MS.open(arena.url(Peer.SPRING_INTEGRATION_1_MS))) {
            Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
            measurements.put(Peer.SYNCGUARD.label(), () -> call(own, callers));
            measurements.put(Peer.SPRING_INTEGRATION.label(), () -> call((PatientContender) other, callers));
            measurements.put(Peer.SPRING_INTEGRATION_1_MS.label(), () -> call((PatientContender) busy, callers));
            report(arena, callers, arena.rounds().interleave(measurements));
        }
    }

    private static void report(Arena arena, int callers, Map<String, List<Found>> found) {
        String title = callers + " callers of one key at once, wait time " + WAIT_TIME.toSeconds() + " s, empty body: ";
        arena.report().title(title + "served");
        Report.figures(found, each -> each.count(Outcome.SERVED)).forEach(arena.report()::add);
        arena.report().title(title + "refused by their wait time");
        Report.figures(found, each -> each.count(Outcome.WAITED_IN_VAIN)).forEach(arena.report()::add);
        arena.report().title(title + "refused by an exception");
        Report.figures(found, each -> each.count(Outcome.FAILED)).forEach(arena.report()::add);
        arena.report().title(title + "seconds until all are through");
        Report.figures(found, Found::seconds).forEach(arena.report()::add);
    }

    private static Found call(PatientContender contender, int callers) throws Exception {
        CountDownLatch ready = new CountDownLatch(callers);
        Queue<Body> bodies = new ConcurrentLinkedQueue<>();
        ExecutorService executor = Executors.newFixedThreadPool(callers);
        try {
            List<Future<Outcome>> calls = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                int number = caller;
                calls.add(executor.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return call(contender, number, bodies);
                }));
            }
            ready.await();
            long began = System.nanoTime();
            List<Outcome> outcomes = new ArrayList<>();
            for (Future<Outcome> call : calls) {
                outcomes.add(call.get());
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            // Checks that no two bodies ran at the same time.
            HandOvers.of(List.copyOf(bodies), List.of());
            return new Found(outcomes, seconds);
        } finally {
            executor.shutdown();
        }
    }

    /** Makes one call. An exception is a result, for example if the pool has no connection in time. */
    private static Outcome call(PatientContender contender, int number, Queue<Body> bodies) {
        try {
            boolean served = contender.await("crowd", WAIT_TIME, () -> {
                long began = System.nanoTime();
                bodies.add(new Body(number, began, System.nanoTime()));
            });
            return served ? Outcome.SERVED : Outcome.WAITED_IN_VAIN;
        } catch (Exception ex) {
            return Outcome.FAILED;
        }
    }
}
