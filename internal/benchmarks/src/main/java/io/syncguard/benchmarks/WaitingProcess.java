package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** The statements of a process that waits for a key which another instance holds for long. */
final class WaitingProcess implements Measurement {

    private static final String KEY = "awaited";

    @Override
    public void run(Arena arena) throws Exception {
        Map<String, Callable<Double>> measurements = new LinkedHashMap<>();
        try (Contenders holders = new Contenders(arena)) {
            for (Peer peer : Peer.waitingIn(arena.store())) {
                WaitingContender holder = (WaitingContender) holders.get(peer);
                WaitingContender waiter = (WaitingContender) arena.contenders().get(peer);
                measurements.put(peer.label() + ", held", () -> held(arena, holder));
                measurements.put(peer.label() + ", held and awaited", () -> waited(arena, holder, waiter));
            }
            arena.report().title("a key that another process holds: statements per second");
            arena.rounds().interleave(measurements).forEach(arena.report()::add);
        }
    }

    private static double held(Arena arena, WaitingContender holder) throws Exception {
        HeldKey held = new HeldKey(body -> holder.await(KEY, body));
        held.began();
        double statements = statementsPerSecond(arena);
        held.end();
        return statements;
    }

    private static double waited(Arena arena, WaitingContender holder, WaitingContender waiter) throws Exception {
        HeldKey held = new HeldKey(body -> holder.await(KEY, body));
        held.began();
        HeldKey next = new HeldKey(body -> waiter.await(KEY, body));
        double statements = statementsPerSecond(arena);
        held.end();
        next.began();
        next.end();
        return statements;
    }

    private static double statementsPerSecond(Arena arena) throws InterruptedException {
        long nanos = arena.rounds().duration().toNanos();
        long before = arena.mariaDb().statements();
        TimeUnit.NANOSECONDS.sleep(nanos);
        return (arena.mariaDb().statements() - before) / (nanos / 1e9);
    }
}
