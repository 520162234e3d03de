package io.syncguard.core;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All grants that this process believes to hold, and the watch that ends a belief at its deadline.
 *
 * <p>The watch does no I/O, so that a silent server cannot delay it. It looks around when the earliest deadline that it saw
 * has come; heartbeats will have moved that on, so it wakes up about once per ttl, however many locks are held.
 */
final class HeldLocks implements AutoCloseable {

    private final ConcurrentMap<String, Hold> holds = new ConcurrentHashMap<>();
    private final Time time;
    private final Alarm alarm;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition noneLeft = lock.newCondition();

    HeldLocks(Time time) {
        this.time = time;
        this.alarm = new Alarm("syncguard-watch", time, this::endBeliefs);
    }

    void add(Hold hold) {
        holds.put(hold.lockId(), hold);
        watch(hold);
    }

    /** Takes notice of the deadline of a hold, which may be earlier than it was. */
    void watch(Hold hold) {
        alarm.ringAt(hold.belief().deadline());
    }

    void remove(Hold hold) {
        holds.remove(hold.lockId());
        if (holds.isEmpty()) {
            lock.lock();
            try {
                noneLeft.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    @Nullable
    Hold find(String lockId) {
        return holds.get(lockId);
    }

    Collection<Hold> all() {
        return holds.values();
    }

    /** Waits until no lock is held, at most so long. An interrupt ends the wait. */
    void awaitNone(Duration atMost) {
        long deadline = time.nanoTime() + atMost.toNanos();
        lock.lock();
        try {
            for (long now = time.nanoTime(); !holds.isEmpty() && now < deadline; now = time.nanoTime()) {
                time.await(noneLeft, deadline - now);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        alarm.close();
    }

    private long endBeliefs() {
        long next = Time.NEVER;
        for (Hold hold : holds.values()) {
            // Whoever looks at a hold past its deadline makes it lost.
            if (hold.isHeld()) {
                next = Math.min(next, hold.belief().deadline());
            }
        }
        return next;
    }
}
