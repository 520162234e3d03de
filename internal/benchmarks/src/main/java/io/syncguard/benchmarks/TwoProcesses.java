package io.syncguard.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Two other processes in which the candidates that can wait are open. */
final class TwoProcesses implements AutoCloseable {

    /** A little longer than the 100 ms between two polls, so that random pauses cover the interval. */
    private static final int LONGEST_PAUSE_MILLIS = 110;

    /** The key for {@link #handOver}. */
    static final String HANDED_OVER = "handed-over";

    private final Arena arena;
    private final List<Peer> peers;
    private final ChildProcess one;
    private final ChildProcess other;
    private final Map<Bare, String> bareUrls = new EnumMap<>(Bare.class);

    TwoProcesses(Arena arena, List<Peer> peers) throws IOException {
        this.arena = arena;
        this.peers = peers;
        this.one = new ChildProcess();
        this.other = new ChildProcess();
        for (Peer peer : peers) {
            one.send("open", peer, arena.url(peer));
            other.send("open", peer, arena.url(peer));
            one.answer();
            other.answer();
        }
    }

    List<Peer> peers() {
        return peers;
    }

    /** The ways in which partners without locks can notify each other at this server. */
    List<Bare> bare() {
        return arena.store() == Store.POSTGRES ? List.of(Bare.values()) : List.of();
    }

    /** Lets threads of both processes contend for one key. */
    HandOvers contend(Peer peer, int threadsOfEach, Duration duration) {
        one.send("contend", peer, threadsOfEach, duration.toMillis());
        other.send("contend", peer, threadsOfEach, duration.toMillis());
        return HandOvers.of(Body.parse(one.answer()), Body.parse(other.answer()));
    }

    /** The same with the threads of one process, while the other is idle. */
    HandOvers contendInOne(Peer peer, int threads, Duration duration) {
        return HandOvers.of(Body.parse(one.ask("contend", peer, threads, duration.toMillis())), List.of());
    }

    /** The times of a notification and its echo in milliseconds, without pauses. */
    List<Double> callWithoutPauses(Bare bare, Duration duration) {
        return call(bare, duration, 0);
    }

    /** The same with pauses like those of {@link #handOver}. */
    List<Double> callWithPauses(Bare bare, Duration duration) {
        return call(bare, duration, LONGEST_PAUSE_MILLIS);
    }

    /**
     * Lets the two processes hold the key in turn: one holds it while the other waits, and releases it after a pause.
     *
     * @return the times from the end of one body to the beginning of the other, in milliseconds
     */
    List<Double> handOver(Peer peer, Duration duration) throws InterruptedException {
        List<Double> latencies = new ArrayList<>();
        ChildProcess holder = one;
        ChildProcess waiter = other;
        holder.ask("wait", peer);
        holder.ask("began");
        long end = System.nanoTime() + duration.toNanos();
        do {
            waiter.ask("wait", peer);
            Pauses.pause(LONGEST_PAUSE_MILLIS);
            long ended = Long.parseLong(holder.ask("end"));
            long began = Long.parseLong(waiter.ask("began"));
            HandOvers.requireOrder(ended, began);
            latencies.add((began - ended) / 1e6);
            ChildProcess released = holder;
            holder = waiter;
            waiter = released;
        } while (System.nanoTime() < end);
        holder.ask("end");
        return latencies;
    }

    /** Lets threads of one process acquire this number of permits, and hold them until {@link #empty}. */
    void fill(Peer peer, String key, Duration ttl, int permits) {
        one.ask("fill", peer, key, ttl.toMillis(), permits);
    }

    /** Releases the permits that {@link #fill} acquired. */
    void empty() {
        one.ask("empty");
    }

    /** The same as {@link #fill} in the other process. */
    void fillByOther(Peer peer, String key, Duration ttl, int permits) {
        other.ask("fill", peer, key, ttl.toMillis(), permits);
    }

    void killOne() {
        one.kill();
    }

    @Override
    public void close() {
        one.close();
        other.close();
    }

    private List<Double> call(Bare bare, Duration duration, int longestPauseMillis) {
        String url = bareUrls.computeIfAbsent(bare, this::startEcho);
        String trips = one.ask("call", url, duration.toMillis(), longestPauseMillis);
        return Stream.of(trips.split(" "))
                .map(nanos -> Long.parseLong(nanos) / 1e6)
                .toList();
    }

    private String startEcho(Bare bare) {
        String url = bare.url(arena.postgres());
        other.ask("echo", url);
        return url;
    }
}
