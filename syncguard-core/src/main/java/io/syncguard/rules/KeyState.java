package io.syncguard.rules;

import io.syncguard.LockInfo;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.Hashes;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The state of one key, as a store keeps it in rows. Times are milliseconds of the store's clock.
 *
 * @param leases live and lapsed, in any order
 * @param queue live and lapsed, in the order of arrival
 * @param lastFence the last fence that was drawn for the key; 0 if there is no counter
 */
public record KeyState(String key, List<StoredLease> leases, List<QueueEntry> queue, long lastFence) {

    public KeyState {
        leases = List.copyOf(leases);
        queue = List.copyOf(queue);
    }

    /** A key without rows. */
    public static KeyState unused(String key) {
        return new KeyState(key, List.of(), List.of(), 0);
    }

    /** Whether nobody holds the key or waits for it: it has no rows but that of its counter. */
    public boolean isFree() {
        return leases.isEmpty() && queue.isEmpty();
    }

    /** Whether a lease or a queue entry, live or lapsed, has this lock id. */
    public boolean has(String lockId) {
        return leases.stream().anyMatch(lease -> lease.lockId().equals(lockId))
                || queue.stream().anyMatch(entry -> entry.lockId().equals(lockId));
    }

    /** The live leases, in the order of their fences. */
    public List<RawLockInfo> lookup(long now) {
        return leases.stream()
                .filter(lease -> lease.isLive(now))
                .map(lease -> lease.info(key))
                .sorted(Comparator.comparing(RawLockInfo::fence))
                .toList();
    }

    /** The live waiters, in the order of arrival. */
    public List<QueueEntry> waiters(long now) {
        return queue.stream().filter(entry -> entry.isLive(now)).toList();
    }

    /** The live leases and waiters, as operators see them; empty if there are none. */
    public Optional<LockStatus> status(long now) {
        return status(now, LockStatus.MAX_QUEUE);
    }

    /** @param entries how many waiters to show */
    public Optional<LockStatus> status(long now, int entries) {
        List<LockInfo> holders = lookup(now).stream().map(Hashes::abbreviated).toList();
        List<LockStatus.Waiter> waiters =
                waiters(now).stream().map(QueueEntry::status).toList();
        if (holders.isEmpty() && waiters.isEmpty()) {
            return Optional.empty();
        }
        List<LockStatus.Waiter> shown = waiters.stream().limit(entries).toList();
        return Optional.of(new LockStatus(key, Instant.ofEpochMilli(now), holders, shown, waiters.size()));
    }

    /** The same key with other leases. */
    public KeyState withLeases(List<StoredLease> others) {
        return new KeyState(key, others, queue, lastFence);
    }

    /** The same key with another queue. */
    public KeyState withQueue(List<QueueEntry> others) {
        return new KeyState(key, leases, others, lastFence);
    }

    /** The same key with another counter. */
    public KeyState withLastFence(long last) {
        return new KeyState(key, leases, queue, last);
    }
}
