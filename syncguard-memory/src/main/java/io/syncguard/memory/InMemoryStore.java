package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.LockLimits;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a server is to the other backends: the leases, queues and fence counters of all keys, and a clock. Each
 * operation is one step under one lock, and sees one time. Thread-safe. Several backends may share it: each of
 * them is a process.
 *
 * <p>Its public methods are for tests: they bypass the backends, as an operator or a fault would.
 */
public final class InMemoryStore {

    private static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private final LongSupplier millis;
    private final Duration waiterTtl;
    private final FenceCounters fences;
    private final GrantListener listener;
    private final ReentrantLock lock = new ReentrantLock();

    /** The keys that have leases or queue entries. */
    private final Map<String, StoredKey> keys = new HashMap<>();

    /** The time of the operation that has the lock. */
    private long now;

    /** Uses the monotonic clock of the machine. */
    public InMemoryStore() {
        this(() -> Time.SYSTEM.nanoTime() / 1_000_000);
    }

    /** @param millis the clock of the store, in milliseconds */
    public InMemoryStore(LongSupplier millis) {
        this(millis, WAITER_TTL, FenceSource.COUNTER);
    }

    /** @param waiterTtl how long a queue entry lives unless it is renewed */
    public InMemoryStore(LongSupplier millis, Duration waiterTtl, FenceSource source) {
        this(millis, waiterTtl, source, GrantListener.NONE);
    }

    /** @param listener learns of all grants */
    public InMemoryStore(LongSupplier millis, FenceSource source, GrantListener listener) {
        this(millis, WAITER_TTL, source, listener);
    }

    private InMemoryStore(LongSupplier millis, Duration waiterTtl, FenceSource source, GrantListener listener) {
        this.millis = millis;
        this.waiterTtl = waiterTtl;
        this.fences = new FenceCounters(source);
        this.listener = listener;
    }

    /** Ends all leases of the key and their tolerance now. Nobody is informed. */
    public void expire(String key) {
        run(() -> leasesOf(key).forEach(lease -> lease.expire(now)));
    }

    /** Ends the lease with this lock id and its tolerance now. Nobody is informed. */
    public void expireLease(String lockId) {
        run(() -> find(lockId).map(found -> found.leases().find(lockId)).ifPresent(lease -> lease.expire(now)));
    }

    /**
     * Takes all leases of the key from their holders, who detect it at their next extension. The key stays taken until
     * it is {@linkplain #free freed}.
     *
     * @return the lock ids of the leases
     */
    public List<String> revoke(String key) {
        return revoke(key, lease -> true);
    }

    /** Does the same for the lease with this fence alone, such as one of several permits. */
    public List<String> revoke(String key, Fence fence) {
        return revoke(key, lease -> lease.has(fence));
    }

    /** Deletes the leases of the key that have no holder any more, and wakes its waiters. */
    public void free(String key) {
        free(key, lease -> true);
    }

    /** Does the same for the lease with this fence alone. */
    public void free(String key, Fence fence) {
        free(key, lease -> lease.has(fence));
    }

    /** Deletes the queue entry with this lock id and wakes its waiter. */
    public void dismiss(String lockId) {
        run(() -> find(lockId)
                .ifPresent(stored ->
                        Optional.ofNullable(stored.queue().find(lockId)).ifPresent(stored::dismiss)));
    }

    /** Ends the queue entry with this lock id now. */
    public void expireQueueEntry(String lockId) {
        endQueueEntryIn(lockId, Duration.ZERO);
    }

    /** Lets the queue entry with this lock id end after this time. */
    public void endQueueEntryIn(String lockId, Duration left) {
        run(() -> find(lockId)
                .map(found -> found.queue().find(lockId))
                .ifPresent(entry -> entry.expireAt(now + left.toMillis())));
    }

    /** Deletes the lapsed leases of the key. */
    public void sweep(String key) {
        run(() -> used(key).ifPresent(StoredKey::removeLapsed));
    }

    /** Sets the fence counter of the key as if this number of fences had been drawn. */
    public void drawnUpTo(String key, long fence) {
        run(() -> fences.set(key, fence));
    }

    /** Deletes the fence counter of the key. */
    public void loseCounter(String key) {
        run(() -> fences.lose(key));
    }

    /** The last fence that was drawn for the key, zero if none was. */
    public long fence(String key) {
        return call(() -> fences.last(key));
    }

    /** The lock ids of the key's waiters, by arrival. */
    public List<String> queue(String key) {
        return call(() -> used(key).stream()
                .flatMap(stored -> stored.queue().live(now).stream())
                .map(QueueEntry::lockId)
                .toList());
    }

    /** The keys that have leases or waiters. */
    public Set<String> usedKeys() {
        return call(() -> Set.copyOf(keys.keySet()));
    }

    /** Does one step with a key. */
    <T extends @Nullable Object> T with(String key, Function<StoredKey, T> step) {
        return call(() -> {
            StoredKey stored = keys.computeIfAbsent(key, unknown -> new StoredKey(unknown, this));
            try {
                return step.apply(stored);
            } finally {
                if (stored.isEmpty()) {
                    keys.remove(key);
                }
            }
        });
    }

    /**
     * Does one step with the key that has a lease or a queue entry with this lock id.
     *
     * @param unknown the answer if there is none
     */
    <T> T withLockId(String lockId, Function<StoredKey, T> step, T unknown) {
        return call(() -> find(lockId).map(found -> with(found.key(), step)).orElse(unknown));
    }

    /** Does several steps without others between them. */
    <T extends @Nullable Object> T call(Supplier<T> steps) {
        lock.lock();
        try {
            if (lock.getHoldCount() == 1) {
                now = millis.getAsLong();
            }
            return steps.get();
        } finally {
            lock.unlock();
        }
    }

    /** All keys with leases or queue entries. Called within a step. */
    Stream<StoredKey> keys() {
        return keys.values().stream();
    }

    /** The time of the running step. */
    long now() {
        return now;
    }

    Duration waiterTtl() {
        return waiterTtl;
    }

    FenceCounters fences() {
        return fences;
    }

    /** Reports the ends of lapsed leases before the grant: their keys may have had no operation since. */
    void granted(StoredLease lease) {
        keys().flatMap(stored -> stored.leases().all().stream())
                .filter(other -> other.expiresAt() <= now)
                .forEach(this::ended);
        listener.granted(lease.info());
    }

    void ended(StoredLease lease) {
        if (lease.end()) {
            listener.ended(lease.info());
        }
    }

    private List<String> revoke(String key, Predicate<StoredLease> chosen) {
        return call(() -> leasesOf(key).stream()
                .filter(lease -> !lease.isReserved() && chosen.test(lease))
                .map(this::revoked)
                .toList());
    }

    private void free(String key, Predicate<StoredLease> chosen) {
        with(key, stored -> {
            stored.free(chosen);
            return stored;
        });
    }

    private String revoked(StoredLease lease) {
        ended(lease);
        lease.reserve(LockLimits.MAX_DURATION);
        return lease.request().lockId();
    }

    private Optional<StoredKey> used(String key) {
        return Optional.ofNullable(keys.get(key));
    }

    private Optional<StoredKey> find(String lockId) {
        return keys().filter(stored ->
                        stored.leases().find(lockId) != null || stored.queue().find(lockId) != null)
                .findFirst();
    }

    private List<StoredLease> leasesOf(String key) {
        return used(key).stream()
                .flatMap(stored -> stored.leases().all().stream())
                .toList();
    }

    private void run(Runnable step) {
        call(() -> {
            step.run();
            return this;
        });
    }
}
