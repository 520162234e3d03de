package io.syncguard.batching;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests of many threads share statements. Thread-safe.
 *
 * <ul>
 *   <li>While few statements are under way, a request is sent alone, at once and on its caller's thread.
 *   <li>Otherwise it waits in a queue. When a statement returns, a thread of the batcher sends all that wait in one
 *       batch. There is one batch at a time. A single waiter is sent alone, on its caller's thread.
 *   <li>After a batch of several requests, the next ones are expected together, too. So a single request is not sent
 *       alone until several batches had one request each: it waits until the thread of the batcher is awake and takes
 *       all of them.
 *   <li>A batch never waits for a lock of the store. What it skips is sent alone.
 *   <li>A request that was sent alone may wait for a lock. Once it is older than {@value #LONE_LIMIT_MILLIS} ms, others
 *       no longer wait for it.
 *   <li>Only one statement at a time has requests of a key. The other requests of the key wait for its answer and then
 *       share a batch. So a key that is locked in the store takes one connection, however many callers wait for it.
 *   <li>Requests of one key are sent in the order of their arrival. Requests that a batch skipped go first.
 *   <li>A statement of another kind may {@linkplain #takeAlong take along} requests that wait. Neither waits for the
 *       other.
 * </ul>
 *
 * @param <Q> a request
 * @param <A> its answer
 */
final class Batcher<Q, A> implements AutoCloseable {

    /**
     * After this time a lone request no longer blocks a batch. It is longer than most statements, and too short for
     * people to notice.
     */
    static final long LONE_LIMIT_MILLIS = 5;

    private static final long LONE_LIMIT_NANOS =
            Duration.ofMillis(LONE_LIMIT_MILLIS).toNanos();

    /**
     * So many batches of one request end the expectation of several: a batch of one is often chance, and each request
     * that is sent alone takes the server twice as long as one in a batch.
     */
    static final int CROWDED_BATCHES = 8;

    /** One thread sends a batch while the other delivers answers. */
    private static final int THREADS = 2;

    /**
     * The limits of a batcher.
     *
     * @param statements number of statements under way from which on requests wait for each other; 1 or more
     * @param batchSize maximum number of requests in one statement
     * @param waitLimit maximum wait until a request is sent; twice as long until it is answered
     * @param batchesOnly whether no request is sent alone before a batch has skipped it; for tests
     */
    record Limits(int statements, int batchSize, Duration waitLimit, boolean batchesOnly) {}

    private final BatchSender<Q, A> sender;
    private final Limits limits;
    private final Time time;
    private final ThreadFactory threads;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition called = lock.newCondition();
    private final Condition delivery = lock.newCondition();

    /** Guarded by the lock, like all below: the requests that wait to be sent, in the order of their arrival. */
    private final SortedSet<BatchedCall<Q, A>> waiting = new TreeSet<>();

    private final Turns<Q, A> turns = new Turns<>();

    /** The requests that were sent alone and count as statements under way, the oldest first. */
    private final Deque<Lone<Q, A>> alone = new ArrayDeque<>();

    /** Whether a batch is under way or ordered. */
    private boolean batching;

    private boolean batchOrdered;

    /** In how many more batches several requests are expected together. */
    private int crowded;

    /** The batches that have departed and whose answers are not delivered. */
    private final Set<Batch<Q, A>> departed = new HashSet<>();

    /** The failure of the last statement; {@code null} if it was answered. All threads that send write it. */
    private volatile @Nullable RuntimeException lastFailure;

    private final AtomicLong arrivals = new AtomicLong();

    private int madeThreads;
    private int idleThreads;

    /** When an idle thread next checks the age of lone requests. */
    private long looksAt = Time.NEVER;

    private boolean closed;

    /** @param name prefix of the names of the threads, which start when requests wait for the first time */
    Batcher(String name, BatchSender<Q, A> sender, Limits limits, Time time) {
        this(DaemonThreadFactory.numbered(name), sender, limits, time);
    }

    Batcher(ThreadFactory threads, BatchSender<Q, A> sender, Limits limits, Time time) {
        this.threads = threads;
        this.sender = sender;
        this.limits = limits;
        this.time = time;
    }

    /** Sends a request, and returns its answer. */
    A send(Q request) {
        BatchedCall<Q, A> call = new BatchedCall<>(request, sender, arrivals.incrementAndGet());
        long sendBy = time.nanoTime() + limits.waitLimit().toNanos();
        long deadline = sendBy + limits.waitLimit().toNanos();
        change(() -> admit(call));
        return switch (call.await(time, sendBy, deadline)) {
            case ALONE -> sendAlone(call);
            case ENDED -> call.answer();
            case SENT -> throw left(request, true);
            case WAITING, LEFT -> {
                withdraw(call);
                throw left(request, false);
            }
        };
    }

    private RuntimeException left(Q request, boolean sent) {
        return Thread.currentThread().isInterrupted()
                ? sender.interrupted(request, sent)
                : sent ? sender.timedOut(request, true) : sender.notSent(request, lastFailure);
    }

    /**
     * Takes requests of one key out of the queue, for a statement of another kind: as many as a batch has at most, in
     * the order of their arrival. Takes no requests of a key that a batch has. Never waits.
     */
    TakenRequests<Q, A> takeAlong(Predicate<Q> wanted) {
        lock.lock();
        try {
            Batch<Q, A> taken = new Batch<>();
            if (waiting.isEmpty() && turns.queues().isEmpty()) {
                return new TakenRequests<>(this, sender, taken);
            }
            List<BatchedCall<Q, A>> calls = Stream.concat(Stream.of(waiting), turns.queues().stream())
                    .flatMap(queue -> queue.stream()
                            .filter(call -> wanted.test(call.request) && !turns.isInBatch(call.key))
                            .limit(limits.batchSize()))
                    .sorted()
                    .toList();
            calls.stream()
                    .filter(call -> call.key.equals(calls.get(0).key))
                    .limit(limits.batchSize())
                    .forEach(call -> {
                        remove(call);
                        taken.add(call);
                    });
            if (!taken.isEmpty()) {
                departed.add(taken);
            }
            return new TakenRequests<>(this, sender, taken);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Delivers the answers to requests that were taken along. Those without an answer wait again, at their old places.
     */
    void bringBack(Batch<Q, A> taken) {
        change(() -> taken.skipped().forEach(this::waitAgain));
        taken.deliver();
        // Not while the engine runs, which gives them back itself: the statement that took them along must not wait for
        // another one.
        if (isClosed()) {
            taken.giveBack(sender);
        }
        lock.lock();
        try {
            delivered(taken);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the threads. Requests that wait are sent alone, and so are those that come later. */
    @Override
    public void close() {
        change(() -> {
            closed = true;
            sendAllAlone();
            called.signalAll();
        });
    }

    /**
     * Waits until no batch with a request of a caller who has left is under way, but no longer than a request may take.
     * Called after {@link #close}. An interrupt does not end the wait.
     */
    void awaitLeft() {
        time.awaitUninterrupted(
                () -> departed.stream().noneMatch(Batch::hasLeftCaller),
                lock,
                delivery,
                limits.waitLimit().multipliedBy(2));
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            dispatch();
        } finally {
            lock.unlock();
        }
    }

    /** Queues the call, unless a statement has its key: then it waits for that statement. */
    private void admit(BatchedCall<Q, A> call) {
        if (closed) {
            mayGoAlone(call);
        } else if (!turns.queue(call)) {
            waiting.add(call);
        }
    }

    /**
     * Makes the caller send the call alone, unless the call has to wait for its key or the caller has left. Returns
     * whether it does.
     */
    private boolean mayGoAlone(BatchedCall<Q, A> call) {
        boolean goes = !turns.queue(call) && call.sendAlone();
        if (goes) {
            turns.begin(call.key, false);
        }
        return goes;
    }

    /** Sends waiting requests while the limit allows another statement. */
    private void dispatch() {
        while (!waiting.isEmpty() && !batchOrdered && hasRoom()) {
            if (waiting.size() == 1 && crowded == 0 && !limits.batchesOnly()) {
                BatchedCall<Q, A> call = waiting.first();
                waiting.clear();
                if (mayGoAlone(call)) {
                    alone.add(new Lone<>(call, time.nanoTime()));
                }
            } else if (batching || idleThreads == 0) {
                // The thread that ends the batch or has delivered its answers dispatches again, and so does a new
                // thread.
                makeThreads();
                return;
            } else {
                batching = true;
                batchOrdered = true;
                called.signal();
            }
        }
        if (!waiting.isEmpty()) {
            makeThreads();
            lookAt(oldestLoneDropsAt());
        }
    }

    private boolean hasRoom() {
        return alone.size() + (batching ? 1 : 0) < limits.statements();
    }

    private void makeThreads() {
        while (madeThreads < THREADS && !closed) {
            try {
                threads.newThread(this::sendBatches).start();
                madeThreads++;
            } catch (Error ex) {
                // The next request that waits tries again.
                if (madeThreads == 0) {
                    sendAllAlone();
                }
                return;
            }
        }
    }

    private void sendAllAlone() {
        waiting.forEach(this::mayGoAlone);
        waiting.clear();
    }

    private void lookAt(long nanoTime) {
        if (nanoTime < looksAt) {
            looksAt = nanoTime;
            called.signal();
        }
    }

    /** Stops counting lone requests that are older than the limit, so that waiting ones are sent. */
    private void dropOldLoneRequests() {
        looksAt = Time.NEVER;
        long now = time.nanoTime();
        while (!waiting.isEmpty() && oldestLoneDropsAt() <= now) {
            alone.remove();
        }
        dispatch();
    }

    /** When the oldest lone request stops counting. */
    private long oldestLoneDropsAt() {
        return alone.isEmpty() ? Time.NEVER : alone.element().sentAt + LONE_LIMIT_NANOS;
    }

    private A sendAlone(BatchedCall<Q, A> call) {
        try {
            A answer = sender.sendAlone(call.request);
            lastFailure = null;
            return answer;
        } catch (RuntimeException ex) {
            lastFailure = ex;
            throw ex;
        } finally {
            change(() -> {
                alone.removeIf(lone -> lone.call == call);
                passOn(call.key);
            });
        }
    }

    /** Removes a call whose caller left before it was sent. */
    private void withdraw(BatchedCall<Q, A> call) {
        change(() -> remove(call));
    }

    private void remove(BatchedCall<Q, A> call) {
        waiting.remove(call);
        turns.withdraw(call);
    }

    /** Admits the requests that waited for the key. */
    private void passOn(Object key) {
        turns.end(key).forEach(this::admit);
    }

    private void sendBatches() {
        for (Batch<Q, A> batch = nextBatch(null); batch != null; batch = nextBatch(batch)) {
            // Only close() ends this thread.
            Thread.interrupted();
            lastFailure = batch.send(sender);
            // The next batch departs before the answers are delivered, because everybody waits for it.
            returned(batch);
            batch.deliver();
            batch.giveBack(sender);
        }
    }

    /** Waits for the next batch. Returns {@code null} once the batcher is closed. */
    private @Nullable Batch<Q, A> nextBatch(@Nullable Batch<Q, A> delivered) {
        lock.lock();
        try {
            delivered(delivered);
            idleThreads++;
            dispatch();
            while (!closed) {
                Batch<Q, A> batch = batchOrdered ? Batch.takeFrom(waiting, limits.batchSize(), turns) : null;
                if (batch == null) {
                    awaitCall();
                    continue;
                }
                batchOrdered = false;
                if (!batch.isEmpty()) {
                    crowded = batch.size() > 1 ? CROWDED_BATCHES : Math.max(0, crowded - 1);
                    departed.add(batch);
                    idleThreads--;
                    if (looksAt < Time.NEVER) {
                        // This thread waited until looksAt, and the other one may not.
                        called.signal();
                    }
                    dispatch();
                    return batch;
                }
                batching = false;
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void awaitCall() {
        try {
            long left = looksAt - time.nanoTime();
            if (left > 0) {
                time.await(called, left);
            } else {
                dropOldLoneRequests();
            }
        } catch (InterruptedException ex) {
            // Only close() ends this thread.
        }
    }

    private void returned(Batch<Q, A> batch) {
        change(() -> {
            batching = false;
            Set<Object> keys = new HashSet<>(batch.keys());
            for (BatchedCall<Q, A> call : batch.skipped()) {
                if (!keys.contains(call.key)) {
                    waitAgain(call);
                } else if (call.sendAlone()) {
                    turns.begin(call.key, false);
                    keys.remove(call.key);
                }
            }
            keys.forEach(this::passOn);
        });
    }

    private void waitAgain(BatchedCall<Q, A> call) {
        if (call.waitAgain()) {
            admit(call);
        }
    }

    private void delivered(@Nullable Batch<Q, A> batch) {
        departed.remove(batch);
        delivery.signalAll();
    }

    private record Lone<Q, A>(BatchedCall<Q, A> call, long sentAt) {}
}
