package io.syncguard.rules;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rows of one key while a rule works on them, and what several rules do with them. */
final class KeyStep {

    private final KeyState before;
    private final long now;
    private final Duration waiterTtl;
    private final KeyLeases leases;
    private final KeyQueue queue;
    private final FenceCounter fences;
    private final List<WakeUp> wakeUps = new ArrayList<>();

    KeyStep(KeyState before, Duration waiterTtl, FenceSource source, long now) {
        this.before = before;
        this.now = now;
        this.waiterTtl = waiterTtl;
        this.leases = new KeyLeases(before.leases());
        this.queue = new KeyQueue(before.queue());
        this.fences = new FenceCounter(source, before.key(), before.lastFence());
    }

    <T> Decision<T> decide(T answer) {
        KeyState after = new KeyState(before.key(), leases.all(), queue.entries(), fences.last());
        return new Decision<>(answer, before, after, wakeUps);
    }

    String key() {
        return before.key();
    }

    long now() {
        return now;
    }

    long in(Duration time) {
        return now + time.toMillis();
    }

    Duration waiterTtl() {
        return waiterTtl;
    }

    KeyLeases leases() {
        return leases;
    }

    /** The waiters. Lapsed ones are deleted first, so that nobody waits for them. */
    KeyQueue queue() {
        queue.removeLapsed(now);
        return queue;
    }

    FenceCounter fences() {
        return fences;
    }

    /** Makes a lease. The lapsed leases of the key end for good. */
    StoredLease grant(String lockId, LockMode mode, String owner, Duration ttl) {
        StoredLease lease = new StoredLease(lockId, mode, owner, fences.next(now), now, in(ttl));
        leases.removeLapsed(now);
        leases.add(lease);
        return lease;
    }

    /** Deletes a queue entry, and wakes those behind it: they may have relied on its polls, or waited for it alone. */
    void leave(QueueEntry left) {
        List<QueueEntry> behind = queue.behind(left);
        queue.remove(left);
        boolean blocksReaders = left.kind().blocksReaders();
        wake(entry -> behind.contains(entry)
                && (blocksReaders
                        ? queue.isFirstOrBehindFirstReaders(entry)
                        : queue.isFirst(entry) && entry.kind().conflictsWith(left.kind())));
    }

    /** Wakes the waiters who can be granted the key, now or soon. */
    void wakeGrantable() {
        wake(waiter -> false);
    }

    /** Wakes the front of the queue: it knows of an end that has changed. */
    void wakeFront() {
        wake(queue::isFirstOrBehindFirstReaders);
    }

    /** Wakes the waiters who can be granted the key, now or soon, and those who always have to look again. */
    void wake(Predicate<QueueEntry> always) {
        queue().entries().stream()
                .filter(entry -> isGrantableSoon(entry) || always.test(entry))
                .forEach(this::wake);
    }

    void wake(QueueEntry waiter) {
        send(waiter, null);
    }

    /** @param handOver the grant that the message carries; {@code null} for a waiter who has to look */
    void send(QueueEntry waiter, AcquireResult.@Nullable Granted handOver) {
        waiter.wakeUp(handOver).ifPresent(wakeUps::add);
    }

    boolean isGrantable(QueueEntry entry) {
        return isGrantableAt(now, entry);
    }

    /**
     * Whether it can be granted the key now, or lapses let it in before its next poll. It may not know of these leases:
     * those in front were granted them, or were told that they end earlier.
     */
    boolean isGrantableSoon(QueueEntry entry) {
        return isGrantableAt(now + waiterTtl.toMillis() / 3, entry);
    }

    private boolean isGrantableAt(long time, QueueEntry entry) {
        return queue.isFirst(entry) && leases.conflicting(entry.kind(), time, 0).isEmpty();
    }

    /** @param own the queue entry of the caller; {@code null} for one who is behind all others */
    Obstacles obstacles(@Nullable QueueEntry own, LeaseKind kind) {
        List<QueueEntry> inFront = queue().inFront(own, kind);
        boolean inFrontIsGrantable =
                !inFront.isEmpty() && isGrantable(queue.entries().get(0));
        return new Obstacles(
                leases.conflicting(kind, now, 0),
                leases.conflicting(kind, now, inFrontIsGrantable ? inFront.size() : 0),
                inFront,
                kind);
    }
}
