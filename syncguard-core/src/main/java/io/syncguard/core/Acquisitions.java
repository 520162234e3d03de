package io.syncguard.core;

import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The acquisitions that are under way. An engine that stops waits for them: a grant may be on its way, and only its
 * caller can release it. Thread-safe.
 */
final class Acquisitions {

    /** The acquisitions of one thread, which alone uses this. A listener that acquires a lock adds a second one. */
    private static final class UnderWay {

        private final List<AcquireRequest> granted = new ArrayList<>(1);
        private int count;
    }

    private final ConcurrentMap<Thread, UnderWay> underWay = new ConcurrentHashMap<>();

    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();

    /** Written before the threads are read, and read after one is removed: so no removal is missed. */
    private volatile boolean awaited;

    Acquisitions(Time time) {
        this.time = time;
    }

    <T extends @Nullable Object> T run(Supplier<T> acquisition) {
        Thread thread = Thread.currentThread();
        UnderWay own = underWay.computeIfAbsent(thread, first -> new UnderWay());
        own.count++;
        try {
            return acquisition.get();
        } finally {
            own.count--;
            if (own.count == 0) {
                underWay.remove(thread);
            }
            if (awaited) {
                signal();
            }
        }
    }

    /** The server has granted this to an acquisition of the running thread. */
    void granted(AcquireRequest request) {
        UnderWay own = underWay.get(Thread.currentThread());
        if (own != null) {
            own.granted.add(request);
        }
    }

    /** The lock ids that were granted to the acquisitions of the running thread that are under way. */
    Set<String> grantedToRunningThread() {
        UnderWay own = underWay.get(Thread.currentThread());
        return own == null
                ? Set.of()
                : own.granted.stream().map(AcquireRequest::lockId).collect(Collectors.toSet());
    }

    /**
     * The grants of the acquisitions of these threads. If a listener stops its own engine, these grants get no handles
     * that could release them.
     */
    List<AcquireRequest> grantedTo(EndingThreads ending) {
        return underWay.entrySet().stream()
                .filter(each -> ending.contains(each.getKey()))
                .flatMap(each -> each.getValue().granted.stream())
                .toList();
    }

    /**
     * Waits until no other thread acquires a lock, for this duration at most. An interrupt does not end the wait: a
     * body that stops its own engine may be interrupted, and other callers need the connections.
     */
    void awaitAllBut(EndingThreads ending, Duration atMost) {
        awaited = true;
        time.awaitUninterrupted(() -> underWay.keySet().stream().allMatch(ending::contains), lock, ended, atMost);
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
