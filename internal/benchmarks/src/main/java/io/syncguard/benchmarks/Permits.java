package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * One key with permits: pairs by threads of one process, the time from a release to the next start in another process,
 * and the free permits after a process was killed, or while its bodies run for longer than the ttl.
 */
final class Permits implements Measurement {

    private static final List<Load> LOADS = List.of(Load.of(1), Load.of(16), Load.of(64));

    /** Short, because the measurement waits for it. */
    private static final Duration TTL = Duration.ofSeconds(2);

    /** A store may block a permit for a second after the ttl. */
    private static final Duration UNTIL_LOOK = TTL.plusSeconds(2);

    private static final String EXCLUSIVE = "SyncGuard, exclusive";

    @Override
    public void run(Arena arena) throws Exception {
        Map<Peer, PermitContender> contenders = new LinkedHashMap<>();
        try {
            for (Peer peer : Peer.withPermits(arena.store())) {
                if (peer.open(arena.url(peer)) instanceof PermitContender contender) {
                    contenders.put(peer, contender);
                }
            }
            for (Load load : LOADS) {
                pairs(arena, contenders, load);
            }
            handOver(arena);
            leftOver(arena, contenders);
        } finally {
            contenders.values().forEach(PermitContender::close);
        }
    }

    private static void pairs(Arena arena, Map<Peer, PermitContender> contenders, Load load) throws Exception {
        Map<String, Callable<PairSample>> measurements = new LinkedHashMap<>();
        contenders.forEach((peer, contender) -> measurements.put(
                peer.label(),
                () -> PairSample.of(
                        arena.server(),
                        () -> pairs(contender, load, arena.rounds().duration()))));
        Map<String, List<PairSample>> found = load == LOADS.get(0)
                ? arena.rounds().interleaveOnNewCode(measurements)
                : arena.rounds().interleave(measurements);
        String title = "one key with " + PermitContender.PERMITS + " permits, " + load.label() + ", empty body: ";
        arena.report().title(title + "pairs/s");
        arena.report()
                .addWithRatios(Report.figures(found, sample -> sample.pace().perSecond()));
        arena.report().title(title + "latency of a pair, ms: 99th percentiles");
        arena.report()
                .addWithRatios(Report.figures(found, sample -> sample.pace().percentile(99)));
        arena.report().title(title + "processor time of the client, microseconds per pair");
        Report.figures(found, PairSample::clientMicros).forEach(arena.report()::add);
        arena.report().title(title + "processor time of the server, microseconds per pair");
        Report.figures(found, PairSample::serverMicros).forEach(arena.report()::add);
    }

    /** Checks that there are never more bodies than permits. */
    private static Pace pairs(PermitContender contender, Load load, Duration duration) throws Exception {
        AtomicInteger running = new AtomicInteger();
        return load.run(
                duration,
                (thread, count) -> contender.await("hot", () -> {
                    int bodies = running.incrementAndGet();
                    running.decrementAndGet();
                    if (bodies > PermitContender.PERMITS) {
                        throw new IllegalStateException(bodies + " bodies ran at the same time");
                    }
                }));
    }

    /** Measures hand-overs of one permit while all other permits of the key are in use. */
    private static void handOver(Arena arena) throws Exception {
        List<Peer> peers = Peer.withPermits(arena.store());
        Peer exclusive = Peer.waitingIn(arena.store()).get(0);
        Duration duration = arena.rounds().duration();
        try (TwoProcesses processes = new TwoProcesses(
                arena, Stream.concat(peers.stream(), Stream.of(exclusive)).toList())) {
            Map<String, Callable<List<Double>>> measurements = new LinkedHashMap<>();
            for (Peer peer : peers) {
                measurements.put(peer.label(), () -> {
                    processes.fill(peer, TwoProcesses.HANDED_OVER, PermitContender.TTL, PermitContender.PERMITS - 1);
                    List<Double> times = processes.handOver(peer, duration);
                    processes.empty();
                    return times;
                });
            }
            measurements.put(EXCLUSIVE, () -> processes.handOver(exclusive, duration));
            Map<String, List<List<Double>>> times = arena.rounds().interleave(measurements);
            HandOverTime.report(
                    arena.report(),
                    "one key with " + PermitContender.PERMITS
                            + " permits, release to the next start in another process, ms",
                    times);
        }
    }

    private static void leftOver(Arena arena, Map<Peer, PermitContender> contenders) throws Exception {
        Map<String, List<Double>> ofDead = new LinkedHashMap<>();
        Map<String, List<Double>> ofLiving = new LinkedHashMap<>();
        try (TwoProcesses processes = new TwoProcesses(arena, List.copyOf(contenders.keySet()))) {
            for (Peer peer : contenders.keySet()) {
                processes.fill(peer, "of-dead", TTL, PermitContender.PERMITS);
                processes.fillByOther(peer, "of-living", TTL, PermitContender.PERMITS);
            }
            processes.killOne();
            TimeUnit.NANOSECONDS.sleep(UNTIL_LOOK.toNanos());
            for (Map.Entry<Peer, PermitContender> contender : contenders.entrySet()) {
                ofDead.put(contender.getKey().label(), List.of(free(contender.getValue(), "of-dead")));
                ofLiving.put(contender.getKey().label(), List.of(free(contender.getValue(), "of-living")));
            }
        }
        String title = "of " + PermitContender.PERMITS + " permits with a ttl of " + TTL.toSeconds() + " s, "
                + UNTIL_LOOK.toSeconds() + " s later others can have: those of ";
        arena.report().title(title + "a process that was killed");
        ofDead.forEach(arena.report()::add);
        arena.report().title(title + "bodies that still run");
        ofLiving.forEach(arena.report()::add);
    }

    /** The number of permits that can be held together, by one attempt for each. */
    private static double free(PermitContender contender, String key) throws Exception {
        CountDownLatch attempts = new CountDownLatch(PermitContender.PERMITS);
        ExecutorService executor = Executors.newFixedThreadPool(PermitContender.PERMITS);
        try {
            List<Future<Boolean>> granted = new ArrayList<>();
            for (int i = 0; i < PermitContender.PERMITS; i++) {
                granted.add(executor.submit(() -> attempt(contender, key, attempts)));
            }
            double free = 0;
            for (Future<Boolean> each : granted) {
                free += each.get() ? 1 : 0;
            }
            return free;
        } finally {
            executor.shutdown();
        }
    }

    private static boolean attempt(PermitContender contender, String key, CountDownLatch attempts) throws Exception {
        boolean granted = contender.attempt(key, () -> {
            attempts.countDown();
            try {
                // The limit is for the case that another attempt has failed.
                attempts.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        });
        if (!granted) {
            attempts.countDown();
        }
        return granted;
    }
}
