package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.LockLimits;
import io.syncguard.concurrent.Time;
import io.syncguard.rules.Decision;
import io.syncguard.rules.KeyChanges;
import io.syncguard.rules.KeyRules;
import io.syncguard.rules.KeyState;
import io.syncguard.rules.QueueEntry;
import io.syncguard.rules.StoredLease;
import io.syncguard.rules.WakeUp;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a server is to the other backends: a map of the keys, a clock, and a lock. The {@linkplain KeyRules rules}
 * decide. Each operation is one step under the lock, and sees one time. Thread-safe. Several backends may share it:
 * each of them is a process.
 *
 * <p>Its public methods are for tests: they bypass the backends, as an operator or a fault would.
 */
public final class InMemoryStore {

    private static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private final LongSupplier millis;
    private final KeyRules rules;
    private final GrantListener listener;
    private final ReentrantLock lock = new ReentrantLock();

    /** All keys that were ever asked for. A free one has its fence counter. */
    private final Map<String, KeyState> keys = new HashMap<>();

    /** The channel of a process is its position. */
    private final List<WaitingProcess> processes = new ArrayList<>();

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
        this.rules = new KeyRules(waiterTtl, source);
        this.listener = listener;
    }

    /** Ends all leases of the key and their tolerance now. Nobody is informed. */
    public void expire(String key) {
        changeLeases(key, this::expired);
    }

    /** Ends the lease with this lock id and its tolerance now. Nobody is informed. */
    public void expireLease(String lockId) {
        run(() -> changeLeases(
                keyOf(new KeyedLockId(lockId)), lease -> lease.lockId().equals(lockId) ? expired(lease) : lease));
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

    /** Takes the lease with this fence alone from its holder, such as one of several shared ones. */
    public List<String> revoke(String key, Fence fence) {
        return revoke(key, lease -> lease.fence().equals(fence));
    }

    /** Deletes the leases of the key that have no holder any more, and wakes its waiters. */
    public void free(String key) {
        free(key, lease -> true);
    }

    /** Deletes the lease with this fence alone, if it has no holder any more, and wakes the waiters of its key. */
    public void free(String key, Fence fence) {
        free(key, lease -> lease.fence().equals(fence));
    }

    /** Deletes the queue entry with this lock id and wakes its waiter. */
    public void dismiss(String lockId) {
        run(() -> state(keyOf(new KeyedLockId(lockId))).waiters(now).stream()
                .filter(entry -> entry.lockId().equals(lockId))
                .forEach(entry -> {
                    step(new KeyedLockId(lockId), (key, time) -> rules.release(key, lockId, time));
                    entry.wakeUp(null).ifPresent(this::send);
                }));
    }

    /** Ends the queue entry with this lock id now. */
    public void expireQueueEntry(String lockId) {
        endQueueEntryIn(lockId, Duration.ZERO);
    }

    /** Lets the queue entry with this lock id end after this time. */
    public void endQueueEntryIn(String lockId, Duration left) {
        run(() -> change(
                keyOf(new KeyedLockId(lockId)),
                key -> key.withQueue(key.queue().stream()
                        .map(entry -> entry.lockId().equals(lockId) ? entry.until(now + left.toMillis()) : entry)
                        .toList())));
    }

    /** Deletes the lapsed leases and queue entries of the key, and wakes its waiters. */
    public void sweep(String key) {
        step(key, rules::sweep);
    }

    /** Sets the fence counter of the key as if this number of fences had been drawn. */
    public void drawnUpTo(String key, long fence) {
        change(key, state -> state.withLastFence(fence));
    }

    /** Deletes the fence counter of the key. */
    public void loseCounter(String key) {
        drawnUpTo(key, 0);
    }

    /** The last fence that was drawn for the key, zero if none was. */
    public long fence(String key) {
        return read(key, (state, time) -> state.lastFence());
    }

    /** The lock ids of the key's waiters, by arrival. */
    public List<String> queue(String key) {
        return read(
                key,
                (state, time) ->
                        state.waiters(time).stream().map(QueueEntry::lockId).toList());
    }

    /** The keys that have leases or waiters. */
    public Set<String> usedKeys() {
        return call(() -> used().map(KeyState::key).collect(Collectors.toUnmodifiableSet()));
    }

    /** The backends of this store are its processes. */
    WaitingProcess newProcess() {
        return call(() -> {
            WaitingProcess process = new WaitingProcess(Integer.toString(processes.size()));
            processes.add(process);
            return process;
        });
    }

    KeyRules rules() {
        return rules;
    }

    /** The time of the running step. */
    long now() {
        return now;
    }

    /** Does one step with the key that has a lease or a queue entry with this lock id. */
    <T> T step(KeyedLockId id, BiFunction<KeyState, Long, Decision<T>> rule) {
        return call(() -> step(keyOf(id), rule));
    }

    /** Does one step with a key. */
    <T> T step(String key, BiFunction<KeyState, Long, Decision<T>> rule) {
        return call(() -> done(rule.apply(state(key), now)));
    }

    <T> T read(String key, BiFunction<KeyState, Long, T> reading) {
        return call(() -> reading.apply(state(key), now));
    }

    /** Does several steps without others between them. */
    <T> T call(Supplier<T> steps) {
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

    /** Within a step. */
    KeyState state(String key) {
        return keys.getOrDefault(key, KeyState.unused(key));
    }

    /** The keys that somebody holds or waits for. Within a step. */
    Stream<KeyState> used() {
        return keys.values().stream().filter(key -> !key.isFree());
    }

    /** The key with this lock id; one that nobody uses if there is none. Within a step. */
    String keyOf(KeyedLockId id) {
        return id.key() != null
                ? id.key()
                : used().filter(key -> key.has(id.lockId()))
                        .map(KeyState::key)
                        .findFirst()
                        .orElse("");
    }

    /** Writes what was decided, and sends the messages. Within a step. */
    <T> T done(Decision<T> decision) {
        write(decision.before(), decision.after());
        decision.wakeUps().forEach(this::send);
        return decision.answer();
    }

    private void send(WakeUp message) {
        processes.get(Integer.parseInt(message.channel())).receive(message);
    }

    private void write(KeyState before, KeyState after) {
        keys.put(after.key(), after);
        if (listener != GrantListener.NONE) {
            report(after.key(), KeyChanges.between(before, after).leases());
        }
    }

    /** Reports the ends of lapsed leases before a grant: their keys may have had no operation since. */
    private void report(String key, KeyChanges.Rows<StoredLease> leases) {
        leases.deleted().forEach(lease -> listener.ended(lease.info(key)));
        leases.inserted().stream().filter(StoredLease::hasHolder).forEach(lease -> {
            used().flatMap(other -> other.leases().stream()
                            .filter(old -> old.expiresAt() <= now)
                            .map(old -> old.info(other.key())))
                    .forEach(listener::ended);
            listener.granted(lease.info(key));
        });
    }

    private List<String> revoke(String key, Predicate<StoredLease> chosen) {
        return call(() -> {
            List<StoredLease> revoked = state(key).leases().stream()
                    .filter(lease -> lease.hasHolder() && chosen.test(lease))
                    .toList();
            changeLeases(key, lease -> revoked.contains(lease) ? lease.withoutHolder(LockLimits.MAX_DURATION) : lease);
            return revoked.stream().map(StoredLease::lockId).toList();
        });
    }

    private void free(String key, Predicate<StoredLease> chosen) {
        run(() -> {
            change(
                    key,
                    state -> state.withLeases(state.leases().stream()
                            .filter(lease -> lease.hasHolder() || !chosen.test(lease))
                            .toList()));
            sweep(key);
        });
    }

    private StoredLease expired(StoredLease lease) {
        return lease.until(now - LockBackend.TOLERANCE_MILLIS);
    }

    private void changeLeases(String key, UnaryOperator<StoredLease> change) {
        change(
                key,
                state -> state.withLeases(state.leases().stream().map(change).toList()));
    }

    private void change(String key, UnaryOperator<KeyState> change) {
        run(() -> write(state(key), change.apply(state(key))));
    }

    private void run(Runnable step) {
        call(() -> {
            step.run();
            return this;
        });
    }
}
