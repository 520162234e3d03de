package io.syncguard.core;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one thread of the engine to the servers of a store. Each request has up to {@value #CHUNK} items, the
 * most urgent ones. No server waits for the answer of another. On a slow link, up to {@value #LANES} requests are under
 * way at a server. Other threads send them, because a store may wait for its answer; {@link #settle} ends them on the
 * thread of the engine.
 *
 * @param <T> a lease, a waiter or a release; it is part of one request at a time
 */
final class ServerTurns<T> implements AutoCloseable {

    /** How many items one request has at most. */
    static final int CHUNK = 1000;

    /** How many requests are under way at one server at most. */
    static final int LANES = 3;

    /**
     * How long a request has to be under way before the next one goes to its server, 20 ms. On a fast link, the answer
     * comes before that: one connection is enough.
     */
    private static final long PATIENCE_NANOS = Duration.ofMillis(20).toNanos();

    /** Puts an item behind all that are in time. */
    private static final long LATE = Long.MAX_VALUE / 2;

    /** How urgent an item is. */
    @FunctionalInterface
    interface Urgency<T> {

        /**
         * The item with the smallest number goes first.
         *
         * @param roundTrip the time from a request to the answer, in nanoseconds, or less
         */
        long of(T item, long roundTrip);
    }

    private record UnderWay(int server, long sentAt, CompletableFuture<?> answer, Runnable ended) {}

    private record Ranked<T>(T item, long rank) {}

    private final ToIntFunction<T> serverOf;
    private final ReadyThreads threads;
    private final Time time;
    private final Runnable answered;
    private final Queue<UnderWay> underWay = new ConcurrentLinkedQueue<>();
    private final Set<T> items = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Long> roundTrips = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * @param name of the threads that send the requests; the first one is made now, and the others while it is busy
     * @param answered called when an answer has arrived; makes the thread of the engine call {@link #settle} soon
     */
    ServerTurns(String name, ToIntFunction<T> serverOf, Time time, Runnable answered) {
        this.serverOf = serverOf;
        // After a lack of threads, the next request has another one made.
        this.threads = ReadyThreads.upTo(LANES, DaemonThreadFactory.numbered(name), () -> {});
        this.time = time;
        this.answered = answered;
    }

    /** The urgency of an item that is of no use after some time. One that no request can reach in time goes last. */
    static long urgency(long timeLeft, long roundTrip) {
        return timeLeft < roundTrip ? timeLeft + LATE : timeLeft;
    }

    /** Returns the items of the next request for each server that is free. */
    Map<Integer, List<T>> next(Stream<T> due, Urgency<T> urgency) {
        Map<Integer, List<T>> next = new HashMap<>();
        due.filter(item -> !items.contains(item))
                .collect(Collectors.groupingBy(serverOf::applyAsInt))
                .forEach((server, all) -> {
                    if (freeAt(server) <= time.nanoTime()) {
                        next.put(server, mostUrgent(server, all, urgency));
                    }
                });
        return next;
    }

    private List<T> mostUrgent(int server, List<T> all, Urgency<T> urgency) {
        if (all.size() <= CHUNK) {
            return all;
        }
        long roundTrip = roundTrips.getOrDefault(server, 0L);
        PriorityQueue<Ranked<T>> most = new PriorityQueue<>(
                Comparator.<Ranked<T>>comparingLong(Ranked::rank).reversed());
        for (T item : all) {
            most.add(new Ranked<>(item, urgency.of(item, roundTrip)));
            if (most.size() > CHUNK) {
                most.remove();
            }
        }
        return most.stream().map(Ranked::item).toList();
    }

    /** Sends a request for some items of {@link #next}. */
    <A> void send(
            int server,
            List<T> some,
            Supplier<? extends CompletionStage<A>> request,
            BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        items.addAll(some);
        CompletableFuture<A> answer = send(request);
        underWay.add(new UnderWay(server, time.nanoTime(), answer, () -> {
            try {
                end(answer, ended);
            } finally {
                some.forEach(items::remove);
            }
        }));
        answer.whenComplete((any, error) -> wake());
    }

    /** Sends a request whatever is under way. */
    <A> CompletableFuture<A> send(Supplier<? extends CompletionStage<A>> request) {
        try {
            return CompletableFuture.supplyAsync(request, threads).thenCompose(Function.identity());
        } catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Ends the requests whose answers are there. */
    void settle() {
        for (UnderWay each : underWay) {
            if (each.answer().isDone() && underWay.remove(each)) {
                // A slow answer counts little: an item that is thought to be late would wait for all others.
                roundTrips.merge(
                        each.server(),
                        time.nanoTime() - each.sentAt(),
                        (before, now) -> Math.min(now, before + before / 4));
                each.ended().run();
            }
        }
    }

    /** Returns when {@link #next} has something to send, as far as no answer arrives before. */
    long nextAt(Stream<T> all, ToLongFunction<T> dueAt) {
        Map<Integer, Long> free = new HashMap<>();
        return all.filter(item -> !items.contains(item))
                .mapToLong(item -> Math.max(
                        dueAt.applyAsLong(item), free.computeIfAbsent(serverOf.applyAsInt(item), this::freeAt)))
                .min()
                .orElse(Time.NEVER);
    }

    /** Returns {@link Time#NEVER} for a server that is free when an answer has arrived. */
    private long freeAt(int server) {
        List<UnderWay> there =
                underWay.stream().filter(each -> each.server() == server).toList();
        if (there.size() >= LANES) {
            return Time.NEVER;
        }
        return there.stream()
                .mapToLong(each -> each.sentAt() + PATIENCE_NANOS)
                .max()
                .orElse(Long.MIN_VALUE);
    }

    /** From now on, an answer is settled when it arrives. */
    @Override
    public void close() {
        closed = true;
        threads.close();
        settle();
    }

    private void wake() {
        if (closed) {
            settle();
        } else {
            answered.run();
        }
    }

    /** Waits for an answer. The store limits how long that takes. */
    static <A> void await(CompletableFuture<A> answer, BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        try {
            answer.join();
        } catch (CompletionException | CancellationException ex) {
            // It is received below.
        }
        end(answer, ended);
    }

    private static <A> void end(CompletableFuture<A> answer, BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        answer.whenComplete((result, error) -> ended.accept(
                result, error instanceof CompletionException && error.getCause() != null ? error.getCause() : error));
    }
}
