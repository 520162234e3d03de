package io.syncguard.core;

import io.syncguard.LockHandle;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All leases that this process holds, and the thread {@code syncguard-watch}, which detects that a deadline has passed.
 *
 * <p>The thread does no I/O, so that a silent server cannot delay it. It wakes up at the earliest deadline that it saw.
 * Heartbeats have moved that deadline by then, so it wakes up about once per ttl, however many leases there are. While
 * no thread can be made for a loss, it wakes up every second and tries again.
 */
final class LeaseMonitor implements AutoCloseable {

    /** When it tries again to make a thread for a loss. */
    private static final long LACK_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    /** @param thread the one that acquired it */
    private record Held(Lease lease, LockHandle handle, Thread thread, BiPredicate<EndingThreads, Thread> abandoned) {

        boolean isAbandoned(EndingThreads ending) {
            return abandoned.test(ending, thread);
        }
    }

    private final ConcurrentMap<String, Held> held = new ConcurrentHashMap<>();
    private final Time time;
    private final LeakDetector leaks;
    private final ListenerDispatcher dispatcher;
    private final Alarm alarm;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();

    /** Written before the leases are read, and read after one is removed: so no removal is missed. */
    private volatile boolean releasesAwaited;

    LeaseMonitor(Time time, LeakDetector leaks, ListenerDispatcher dispatcher) {
        this.time = time;
        this.leaks = leaks;
        this.dispatcher = dispatcher;
        this.alarm = new Alarm("syncguard-watch", time, this::loseThoseOver);
        dispatcher.onLackOfThreads(() -> alarm.ringAt(time.nanoTime() + LACK_PAUSE_NANOS));
    }

    /**
     * Watches a lease. Called on the thread that acquired it.
     *
     * @param wasUsed whether the holder has used the handle since it was asked last
     * @param abandoned whether all threads that could release it, such as the one that acquired it, are about to end
     */
    void add(Lease lease, LockHandle handle, BooleanSupplier wasUsed, BiPredicate<EndingThreads, Thread> abandoned) {
        held.put(lease.lockId(), new Held(lease, handle, Thread.currentThread(), abandoned));
        watch(lease);
        leaks.watch(lease, wasUsed);
    }

    /** Watches the deadline of a lease, which may be earlier than before. */
    void watch(Lease lease) {
        alarm.ringAt(lease.deadline());
    }

    void remove(Lease lease) {
        held.remove(lease.lockId());
        leaks.ended(lease);
        if (held.isEmpty() || releasesAwaited) {
            lock.lock();
            try {
                fewer.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** The handle of the lease with this lock id, if this process holds it. */
    @Nullable
    LockHandle find(String lockId) {
        Held found = held.get(lockId);
        return found == null ? null : found.handle();
    }

    /** This lock id, with the key of its lease if this process holds that. */
    KeyedLockId keyed(String lockId) {
        Held found = held.get(lockId);
        return found == null ? new KeyedLockId(lockId) : found.lease().keyedLockId();
    }

    boolean holds(String key) {
        return leases().stream().anyMatch(lease -> lease.request().key().equals(key));
    }

    /** The handles of the leases that the thread acquired, although others may have received them. */
    Stream<LockHandle> acquiredBy(Thread thread) {
        return held.values().stream().filter(each -> each.thread() == thread).map(Held::handle);
    }

    /** The leases at this moment. */
    List<Lease> leases() {
        return stream().toList();
    }

    /** The leases; those that come or go meanwhile may be left out. */
    Stream<Lease> stream() {
        return held.values().stream().map(Held::lease);
    }

    /** The leases, for operators. */
    List<LocalLock> held(EngineSettings settings) {
        return held.values().stream()
                .map(each -> new LocalLock(
                        each.lease().request(),
                        settings.owner(each.lease().request()),
                        each.thread(),
                        null,
                        each.lease().fence(),
                        each.lease().remaining(),
                        each.lease().holdTime().passed()))
                .toList();
    }

    /**
     * Waits until no lease is held, for this duration at most. An interrupt ends the wait.
     *
     * @param ending nobody waits for leases that these would have to release
     */
    void awaitNone(Duration atMost, EndingThreads ending) {
        releasesAwaited = true;
        time.awaitUntil(() -> held.values().stream().allMatch(each -> each.isAbandoned(ending)), lock, fewer, atMost);
    }

    /**
     * Waits for the releases that their holders send. An interrupt does not end this wait: a body that stops its own
     * engine is interrupted by its loss, and other holders need the connections.
     */
    void awaitReleases(Duration atMost, EndingThreads ending) {
        releasesAwaited = true;
        time.awaitUninterrupted(
                () -> held.values().stream().allMatch(each -> !each.lease().isReleasing() || each.isAbandoned(ending)),
                lock,
                fewer,
                atMost);
    }

    @Override
    public void close() {
        alarm.close();
        leaks.close();
    }

    private long loseThoseOver() {
        dispatcher.makeMissingThreads();
        long next = Time.NEVER;
        for (Held each : held.values()) {
            // The check turns a lease past its deadline into a lost one.
            if (each.lease().isHeld()) {
                next = Math.min(next, each.lease().deadline());
            }
        }
        return next;
    }
}
