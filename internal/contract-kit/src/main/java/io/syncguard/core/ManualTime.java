package io.syncguard.core;

import io.syncguard.LockListener;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;

/**
 * A clock that a test moves by hand. A thread that sleeps or waits on it reads it once in each millisecond of real
 * time.
 */
public final class ManualTime implements Time {

    private final AtomicLong now = new AtomicLong();

    /** The number of threads that sleep right now. */
    private final AtomicLong sleepers = new AtomicLong();

    /** How often each thread that ever waited on this clock has read it. */
    private final Map<Thread, Long> looks = new ConcurrentHashMap<>();

    private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

    public void advance(Duration by) {
        now.addAndGet(by.toNanos());
    }

    /** Creates an engine that uses this clock. */
    public LockEngine engineOn(StoreCalls backend, LockListener listener) {
        return new LockEngine(
                backend,
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.of(listener),
                LockObserver.NONE,
                this);
    }

    public long sleepers() {
        return sleepers.get();
    }

    /** How often each thread that waits on this clock has read it so far. */
    public Map<Thread, Long> looks() {
        return Map.copyOf(looks);
    }

    /**
     * Whether the thread has read it this often, or cannot read it because it has ended or waits for something else.
     */
    boolean hasLooked(Thread thread, long times) {
        return !thread.isAlive()
                || thread == Thread.currentThread()
                || looks.getOrDefault(thread, 0L) >= times
                || waitsForSomethingElse(thread);
    }

    @Override
    public long nanoTime() {
        return now.get();
    }

    @Override
    public void await(Condition condition, long nanos) throws InterruptedException {
        look(() -> condition.await(1, TimeUnit.MILLISECONDS));
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        long until = nanoTime() + nanos;
        sleepers.incrementAndGet();
        try {
            while (nanoTime() < until) {
                look(() -> {
                    TimeUnit.MILLISECONDS.sleep(1);
                    return true;
                });
            }
        } finally {
            sleepers.decrementAndGet();
        }
    }

    private void look(Pause pause) throws InterruptedException {
        Thread thread = Thread.currentThread();
        waiting.add(thread);
        looks.merge(thread, 1L, Long::sum);
        try {
            pause.take();
        } finally {
            waiting.remove(thread);
        }
    }

    private boolean waitsForSomethingElse(Thread thread) {
        Thread.State state = thread.getState();
        return !waiting.contains(thread) && (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING);
    }

    @FunctionalInterface
    private interface Pause {
        boolean take() throws InterruptedException;
    }
}
