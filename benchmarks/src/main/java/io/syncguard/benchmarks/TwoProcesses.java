package io.syncguard.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Two processes beside this one, in which all who can wait are ready to do so. */
final class TwoProcesses implements AutoCloseable {

    /** Who is able to wait for a key. */
    private static final List<Peer> PEERS = List.of(
            Peer.SYNCGUARD,
            Peer.SPRING_INTEGRATION,
            Peer.SYNCGUARD_REDIS,
            Peer.REDISSON,
            Peer.SPRING_INTEGRATION_SPIN,
            Peer.SPRING_INTEGRATION_PUB_SUB);

    /** Pauses are spread over the 100 ms between two looks of a process that polls. */
    private static final int LONGEST_PAUSE_MILLIS = 110;

    private final Arena arena;
    private final ChildProcess one;
    private final ChildProcess other;
    private final Map<Bare, String> bareUrls = new EnumMap<>(Bare.class);

    TwoProcesses(Arena arena) throws IOException {
        this.arena = arena;
        this.one = new ChildProcess();
        this.other = new ChildProcess();
        for (Peer peer : peers()) {
            one.tell("open", peer, arena.url(peer));
            other.tell("open", peer, arena.url(peer));
            one.answer();
            other.answer();
        }
    }

    /** Who is able to wait for a key at this server. */
    List<Peer> peers() {
        return PEERS.stream().filter(peer -> peer.store() == arena.store()).toList();
    }

    /** How partners without locks can call each other at this server. */
    List<Bare> bare() {
        return arena.store() == Store.POSTGRES ? List.of(Bare.values()) : List.of();
    }

    /** Has threads of both fight for one key. */
    HandOvers contend(Peer peer, int threadsOfEach, Duration duration) {
        one.tell("contend", peer, threadsOfEach, duration.toMillis());
        other.tell("contend", peer, threadsOfEach, duration.toMillis());
        return HandOvers.of(Body.parse(one.answer()), Body.parse(other.answer()));
    }

    /** How long notifications took there and back, in milliseconds, without pauses. */
    List<Double> callInARow(Bare bare, Duration duration) {
        return call(bare, duration, 0);
    }

    /** The same with pauses as those of {@link #handOver}. */
    List<Double> callNowAndThen(Bare bare, Duration duration) {
        return call(bare, duration, LONGEST_PAUSE_MILLIS);
    }

    /**
     * Has each of them in turn hold the key while the other waits, and release it after a pause.
     *
     * @return how long it took from the end of one body to the beginning of the other, in milliseconds
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
