package io.syncguard.core;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests that one thread of the engine sends to the servers of a store when they are due. Each has up to
 * {@value #CHUNK} items; what ends first goes first. No server waits for the answer of another. On a slow link, up to
 * {@value #LANES} requests are under way at a server. Other threads send them, because a store may wait for its answer.
 *
 * <p>It looks at all items when one becomes due, and then sends those that are due one request after the other.
 *
 * @param <T> a lease, a waiter or a release; it is part of one request at a time
 */
final class DueRequests<T> implements AutoCloseable {

    /** How many items one request has at most. It takes the server about 40 ms. */
    static final int CHUNK = 2000;

    /** How many items an urgent request has at least, if so many are due. */
    private static final int SHORT_CHUNK = 100;

    private static final long NANOS_PER_MILLI = Duration.ofMillis(1).toNanos();

    /** How many requests are under way at one server at most. */
    static final int LANES = 3;

    /**
     * How long a request has to be under way before the next one goes to its server, 20 ms. On a fast link, the answer
     * comes before that: one connection is enough.
     */
    private static final long PATIENCE_NANOS = Duration.ofMillis(20).toNanos();

    /** The items, and what is sent for them. Times are those of the clock. */
    interface Work<T> {

        /** All items, also those that are not due. */
        Stream<T> all();

        int serverOf(T item);

        /** When it has to be sent; {@link Time#NEVER} if it has to be scheduled before. */
        long dueAt(T item);

        /** Whether it is sent now, alone or along with others. */
        boolean isDue(T item, long now);

        /** When the answer is of no use any more. An item that no answer can reach in time goes last. */
        long endsAt(T item);

        /** {@link DueRequests#send Sends} a request for those that are still due. */
        void send(int server, List<T> items);
    }

    private record Urgent<T>(T item, long endsAt) {}

    private record UnderWay(int server, long sentAt, CompletableFuture<?> answer, Runnable ended) {}

    private final Work<T> work;
    private final ReadyThreads threads;
    private final Time time;
    private final LongConsumer alarm;

    /** What was due at the last look and is not sent yet, by server. Used by the thread of the engine alone. */
    private final Map<Integer, Queue<T>> backlog = new HashMap<>();

    private final Queue<UnderWay> underWay = new ConcurrentLinkedQueue<>();
    private final Set<T> sent = ConcurrentHashMap.newKeySet();

    /** When an item becomes due that is neither in the backlog nor under way. */
    private final AtomicLong lookAt = new AtomicLong(Time.NEVER);

    /** The time from a request to its answer, or less, by server. */
    private final Map<Integer, Long> roundTrips = new ConcurrentHashMap<>();

    private volatile boolean closed;

    /** Guarded by this object, which {@link #run} holds. */
    private boolean paused;

    /**
     * @param name of the threads that send the requests; the first one is made now, and the others while it is busy
     * @param alarm has {@link #run} called at this time at the latest
     */
    DueRequests(String name, Work<T> work, Time time, LongConsumer alarm) {
        this.work = work;
        // After a lack of threads, the next request has another one made.
        this.threads = ReadyThreads.upTo(LANES, DaemonThreadFactory.numbered(name), () -> {});
        this.time = time;
        this.alarm = alarm;
    }

    /** An item becomes due at this time. Cheap if another one is due before. */
    void schedule(long dueAt) {
        if (dueAt < lookAt.get()) {
            lookAt.accumulateAndGet(dueAt, Math::min);
            alarm.accept(dueAt);
        }
    }

    /**
     * Ends requests whose answers have come, and sends what is due.
     *
     * @return when it is to be called again, as far as no answer comes before
     */
    synchronized long run() {
        settle();
        if (paused) {
            return Time.NEVER;
        }
        long now = time.nanoTime();
        if (lookAt.get() <= now) {
            look(now);
        }
        backlog.forEach((server, due) -> {
            if (freeAt(server) <= now) {
                sendSome(server, due, now);
            }
        });
        backlog.values().removeIf(Queue::isEmpty);
        long next = backlog.keySet().stream().mapToLong(this::freeAt).min().orElse(Time.NEVER);
        return Math.min(next, lookAt.get());
    }

    /** {@link #run} sends nothing until {@link #resume}. */
    synchronized void pause() {
        paused = true;
    }

    synchronized void resume() {
        paused = false;
        schedule(time.nanoTime());
    }

    /** Waits for the answers to all requests that {@link #run} has sent. The store limits how long that takes. */
    void awaitAnswers() {
        underWay.forEach(each -> each.answer().exceptionally(ex -> null).join());
        settle();
    }

    private void look(long now) {
        // Before the items are read: one that is scheduled meanwhile must not be missed.
        lookAt.set(Time.NEVER);
        backlog.clear();
        List<Urgent<T>> due = new ArrayList<>();
        long first = Time.NEVER;
        long next = Time.NEVER;
        for (T item : (Iterable<T>) work.all().filter(each -> !sent.contains(each))::iterator) {
            long dueAt = work.dueAt(item);
            first = Math.min(first, dueAt);
            if (work.isDue(item, now)) {
                due.add(new Urgent<>(item, work.endsAt(item)));
            } else {
                next = Math.min(next, dueAt);
            }
        }
        if (first > now) {
            lookAt.accumulateAndGet(first, Math::min);
            return;
        }
        lookAt.accumulateAndGet(next, Math::min);
        due.sort(Comparator.comparingLong(Urgent::endsAt));
        due.forEach(each -> backlog.computeIfAbsent(work.serverOf(each.item()), any -> new ArrayDeque<>())
                .add(each.item()));
    }

    private void sendSome(int server, Queue<T> due, long now) {
        long tooLate = now + roundTrips.getOrDefault(server, 0L);
        List<T> some = new ArrayList<>();
        List<T> late = new ArrayList<>();
        int most = CHUNK;
        while (some.size() < most && !due.isEmpty()) {
            T item = due.remove();
            if (!work.isDue(item, now)) {
                continue;
            }
            long endsAt = work.endsAt(item);
            if (endsAt < tooLate) {
                late.add(item);
            } else {
                some.add(item);
                most = some.size() == 1 ? most(endsAt - now) : most;
            }
        }
        due.addAll(late);
        while (some.size() < most && !due.isEmpty()) {
            some.add(due.remove());
        }
        if (!some.isEmpty()) {
            work.send(server, some);
        }
    }

    /** One item for each millisecond, so that a long request does not take the time that is left for its first item. */
    private static int most(long timeLeft) {
        return (int) Math.max(SHORT_CHUNK, Math.min(CHUNK, timeLeft / NANOS_PER_MILLI));
    }

    /** Sends a request for some of the items of {@link Work#send}. */
    <A> void send(
            int server,
            List<T> items,
            Supplier<? extends CompletionStage<A>> request,
            BiConsumer<@Nullable A, @Nullable Throwable> ended) {
        sent.addAll(items);
        CompletableFuture<A> answer = send(request);
        underWay.add(new UnderWay(server, time.nanoTime(), answer, () -> {
            try {
                end(answer, ended);
            } finally {
                items.forEach(sent::remove);
                items.forEach(item -> schedule(work.dueAt(item)));
            }
        }));
        answer.whenComplete((any, error) -> answered());
    }

    /** Sends a request whatever is under way. */
    <A> CompletableFuture<A> send(Supplier<? extends CompletionStage<A>> request) {
        try {
            return CompletableFuture.supplyAsync(request, threads).thenCompose(Function.identity());
        } catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private void answered() {
        if (closed) {
            settle();
        } else {
            alarm.accept(time.nanoTime());
        }
    }

    private void settle() {
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

    /** From now on, a request ends when its answer arrives. */
    @Override
    public void close() {
        closed = true;
        threads.close();
        settle();
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
