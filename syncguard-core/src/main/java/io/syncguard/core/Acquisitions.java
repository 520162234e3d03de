package io.syncguard.core;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The acquisitions that are under way. An engine that stops waits for them: a grant may be on its way, and only its
 * caller can release it. Threads may share it.
 */
final class Acquisitions {

    /** How many each thread has under way: a listener may acquire a lock, too. */
    private final ConcurrentMap<Thread, Integer> underWay = new ConcurrentHashMap<>();

    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();

    /** Written before the threads are looked at, and read after one is removed: so one of both sees the other. */
    private volatile boolean awaited;

    Acquisitions(Time time) {
        this.time = time;
    }

    <T extends @Nullable Object> T run(Supplier<T> acquisition) {
        Thread thread = Thread.currentThread();
        underWay.merge(thread, 1, Integer::sum);
        try {
            return acquisition.get();
        } finally {
            underWay.computeIfPresent(thread, (same, count) -> count == 1 ? null : count - 1);
            if (awaited) {
                signal();
            }
        }
    }

    /**
     * Waits until no other thread acquires a lock, for this duration at most. An interrupt does not end the wait: a body
     * that stops its own engine may be interrupted, and other callers need the connections.
     */
    void awaitOthers(Duration atMost) {
        awaited = true;
        Thread caller = Thread.currentThread();
        time.awaitUninterrupted(() -> underWay.keySet().stream().allMatch(caller::equals), lock, ended, atMost);
    }

    private void signal() {
        lock.lock();
        try {
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
