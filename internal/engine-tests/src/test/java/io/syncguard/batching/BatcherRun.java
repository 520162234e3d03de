package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.batching.RandomStore.Failure;
import io.syncguard.batching.RandomStore.Kind;
import io.syncguard.batching.RandomStore.Request;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Many threads send random requests through one batcher, and are interrupted. */
final class BatcherRun {

    private static final int CALLERS = 16;
    private static final int KEYS = 6;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final AtomicInteger made = new AtomicInteger();

    private final Batcher.Limits limits;
    private final RandomStore store;
    private final Batcher<Request, String> batcher;
    private final String name = "stress" + made.incrementAndGet();
    private final AtomicInteger ids = new AtomicInteger();
    private final Queue<Request> notSent = new ConcurrentLinkedQueue<>();
    private final Queue<Request> sentWithoutCaller = new ConcurrentLinkedQueue<>();
    private volatile boolean isOver;

    final AtomicInteger answered = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();
    final AtomicInteger takenAlong = new AtomicInteger();

    BatcherRun(Batcher.Limits limits, Time time) {
        this.limits = limits;
        this.store = new RandomStore(limits.statements(), time != Time.SYSTEM);
        this.batcher = new Batcher<>(name, store, limits, time);
    }

    /** Returns the number of callers that left before an answer. */
    int left() {
        return notSent.size() + sentWithoutCaller.size();
    }

    int batches() {
        return store.batches.get();
    }

    void forMillis(long millis) throws InterruptedException {
        List<Thread> callers = start(CALLERS, this::sendMany);
        interruptSome(callers, millis);
        isOver = true;
        join(callers);
        patiently().until(store::isQuiet);
        nothingIsLeft();
        batcher.close();
        patiently().until(this::hasNoThreads);
        assertThat(notSent).allMatch(request -> request.timesExecuted.get() == 0);
        assertThat(sentWithoutCaller).allMatch(request -> request.timesSent.get() >= 1);
        assertThat(sentWithoutCaller).allMatch(request -> request.timesExecuted.get() <= 1);
        assertThat(store.violations).isEmpty();
    }

    private void sendMany() {
        while (!isOver) {
            if (ThreadLocalRandom.current().nextInt(4) == 0) {
                takeAlong();
            }
            sendOne();
        }
    }

    private static void interruptSome(List<Thread> callers, long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() < end) {
            callers.get(ThreadLocalRandom.current().nextInt(CALLERS)).interrupt();
            LockSupport.parkNanos(100_000);
        }
    }

    private static ConditionFactory patiently() {
        return Awaitility.await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    private boolean hasNoThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith(name + "-"));
    }

    /**
     * Asserts that no turn, queued request or statement is left over: the batcher sends as many requests alone as its
     * limit allows.
     */
    private void nothingIsLeft() throws InterruptedException {
        store.calmDown(() -> {});
        // Each key, and so many requests that the batcher expects no company any more.
        for (int i = 0; i < KEYS + Batcher.CROWDED_BATCHES; i++) {
            Request request = new Request(ids.incrementAndGet(), i % KEYS, 1);
            // With a short limit, it may not wait for the last batch.
            patiently().ignoreExceptions().untilAsserted(() -> calmly(request));
        }
        if (!limits.batchesOnly()) {
            int before = batches();
            CyclicBarrier allUnderWay = new CyclicBarrier(limits.statements());
            store.calmDown(() -> await(allUnderWay));
            join(start(limits.statements(), () -> calmly(new Request(ids.incrementAndGet(), new Object(), 1))));
            assertThat(batches()).isEqualTo(before);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
            throw new AssertionError(ex);
        }
    }

    private void calmly(Request request) {
        assertThat(batcher.send(request)).isEqualTo(request.answer());
    }

    /** Takes requests along, as a statement of another kind does. */
    private void takeAlong() {
        TakenRequests<Request, String> taken = batcher.takeAlong(request -> request.key instanceof Integer);
        try {
            if (!taken.isEmpty()) {
                takenAlong.incrementAndGet();
                taken.send(store::sendAlong, answers -> answers);
            }
        } catch (RuntimeException | Error ex) {
            // Each request has the failure as its own.
        }
    }

    private void sendOne() {
        Request request = randomRequest();
        try {
            String answer = batcher.send(request);
            answered.incrementAndGet();
            check(answer.equals(request.answer()) && request.timesExecuted.get() == 1, request, answer);
        } catch (Failure ex) {
            check(ex.id == request.id && isTrue(ex.kind, request), request, ex);
        } catch (RuntimeException | Error ex) {
            check(false, request, ex);
        }
        // The interrupter goes on.
        Thread.interrupted();
    }

    private boolean isTrue(Kind kind, Request request) {
        switch (kind) {
            case FAILED -> failed.incrementAndGet();
            case NOT_SENT -> notSent.add(request);
            case INTERRUPTED_UNDER_WAY, TIMED_OUT_UNDER_WAY -> sentWithoutCaller.add(request);
        }
        return switch (kind) {
            case FAILED -> request.timesExecuted.get() == 1;
            case NOT_SENT -> request.timesExecuted.get() == 0;
            case INTERRUPTED_UNDER_WAY -> Thread.currentThread().isInterrupted();
            case TIMED_OUT_UNDER_WAY -> true;
        };
    }

    private void check(boolean isRight, Request request, Object outcome) {
        if (!isRight || request.timesExecuted.get() > 1) {
            store.violations.add(request.id + " was sent " + request.timesSent + " times, executed "
                    + request.timesExecuted + " times: " + outcome);
        }
    }

    private Request randomRequest() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Object key = random.nextInt(3) == 0 ? random.nextInt(KEYS) : new Object();
        return new Request(ids.incrementAndGet(), key, 1 + random.nextInt(10) / 8);
    }

    private static List<Thread> start(int count, Runnable work) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(work, "caller-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(PATIENCE.toMillis());
            assertThat(thread.isAlive())
                    .as("%s still waits at %s", thread, List.of(thread.getStackTrace()))
                    .isFalse();
        }
    }
}
