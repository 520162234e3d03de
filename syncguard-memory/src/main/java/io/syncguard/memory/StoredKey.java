package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The leases and the queue of one key, and each operation that a server does with them in one step. The lock of the
 * store guards it.
 */
final class StoredKey {

    private final String key;
    private final InMemoryStore store;
    private final KeyLeases leases = new KeyLeases();
    private final KeyQueue queue = new KeyQueue();

    StoredKey(String key, InMemoryStore store) {
        this.key = key;
        this.store = store;
    }

    AcquireResult acquire(AcquireRequest request, WaitingProcess process) {
        queue.removeLapsed(now());
        StoredLease handedOver = request.queued() ? leases.find(request.lockId()) : null;
        if (handedOver != null && handedOver.isLive(now())) {
            handedOver.found(now(), request.ttl());
            return handedOver.grant();
        }
        QueueEntry own = queue.find(request.lockId());
        Obstacles obstacles = obstacles(own, request);
        if (obstacles.areNone()) {
            StoredLease lease = grant(request, request.ttl(), own);
            if (own != null) {
                wakeBehind(request);
            }
            return lease.grant();
        }
        if (request.waiterNumber() == null) {
            if (own != null) {
                leave(own);
            }
            return new AcquireResult.Refused(obstacles.untilLast(now()), obstacles.holder());
        }
        QueueEntry entry = own == null ? queue.add(new QueueEntry(request, process, now())) : own;
        entry.renew(request, waiterEnd());
        return new AcquireResult.Queued(obstacles.untilFirst(now()), obstacles.holder());
    }

    /**
     * Why a request without a queue entry would be refused; {@code null} if it would be granted.
     *
     * @throws io.syncguard.LockBackendException if the key has no fences left
     */
    AcquireResult.@Nullable Refused refusal(AcquireRequest request) {
        queue.removeLapsed(now());
        Obstacles obstacles = obstacles(null, request);
        if (obstacles.areNone()) {
            store.fences().requireNext(key);
            return null;
        }
        return new AcquireResult.Refused(obstacles.untilLast(now()), obstacles.holder());
    }

    /** @param releasing the process whose answer may carry a hand-over; {@code null} for a release without one */
    ReleaseResult release(String lockId, @Nullable WaitingProcess releasing) {
        queue.removeLapsed(now());
        QueueEntry entry = queue.find(lockId);
        if (entry != null) {
            leave(entry);
            return ReleaseResult.LEFT;
        }
        StoredLease lease = leases.find(lockId);
        if (lease == null) {
            return ReleaseResult.NOT_FOUND;
        }
        if (!lease.isLive(now())) {
            return ReleaseResult.EXPIRED;
        }
        remove(lease);
        QueueEntry first = queue.first();
        List<HandOver> answered = releasing == null ? List.of() : handOver(releasing);
        boolean handedOver = queue.first() != first;
        wake(waiter -> handedOver && isGrantableSoon(waiter));
        return new ReleaseResult(ReleaseResult.Outcome.RELEASED, answered);
    }

    ReleaseResult releaseAfter(String lockId, Duration held) {
        StoredLease lease = leases.find(lockId);
        if (lease == null) {
            return ReleaseResult.NOT_FOUND;
        }
        if (!lease.isLive(now())) {
            return ReleaseResult.EXPIRED;
        }
        store.ended(lease);
        lease.reserve(held);
        wake(queue::isFirstOrBehindFirstReaders);
        return ReleaseResult.RELEASED;
    }

    Duration renewWaiter(String lockId) {
        queue.removeLapsed(now());
        QueueEntry own = queue.find(lockId);
        if (own == null) {
            return Duration.ZERO;
        }
        own.expireAt(waiterEnd());
        return obstacles(own, own.request()).untilFirst(now());
    }

    ExtendResult extend(ExtendRequest request) {
        StoredLease lease = leases.find(request.lockId());
        if (lease == null) {
            return new ExtendResult.NotFound();
        }
        if (!lease.isLive(now())) {
            return new ExtendResult.Expired();
        }
        long before = lease.expiresAt();
        lease.expireAt(now() + request.ttl().toMillis());
        if (lease.expiresAt() < before) {
            wake(queue::isFirstOrBehindFirstReaders);
        }
        return new ExtendResult.Extended(Instant.ofEpochMilli(lease.expiresAt()));
    }

    ExtendResult rotate(ExtendRequest request) {
        StoredLease lease = leases.find(request.lockId());
        if (lease == null || lease.request().mode() == LockMode.SHARED) {
            return new ExtendResult.NotFound();
        }
        if (!lease.isLive(now())) {
            return new ExtendResult.Expired();
        }
        Fence next = new Fence(store.fences().next(key, now()));
        lease.rotated(next.value());
        extend(request);
        return new ExtendResult.Rotated(Instant.ofEpochMilli(lease.expiresAt()), next);
    }

    ForcedRelease forceRelease() {
        int released = leases.live(now()).size();
        if (released == 0) {
            return new ForcedRelease(key, 0, 0, null);
        }
        Fence fence = store.fences().hasNext(key) ? new Fence(store.fences().next(key, now())) : null;
        leases.all().forEach(this::remove);
        wake(waiter -> false);
        return new ForcedRelease(key, released, 0, fence);
    }

    /** Deletes these leases, if they have no holder. */
    void free(Predicate<StoredLease> chosen) {
        leases.all().stream().filter(StoredLease::isReserved).filter(chosen).forEach(this::remove);
        wake(waiter -> false);
    }

    void dismiss(QueueEntry entry) {
        leave(entry);
        entry.wake();
    }

    Optional<LockStatus> status() {
        List<LockInfo> holders =
                leases.lookup(now()).stream().map(Hashes::abbreviated).toList();
        List<LockStatus.Waiter> waiters = queue.status(now());
        if (holders.isEmpty() && waiters.isEmpty()) {
            return Optional.empty();
        }
        List<LockStatus.Waiter> shown =
                waiters.stream().limit(LockStatus.MAX_QUEUE).toList();
        return Optional.of(new LockStatus(key, Instant.ofEpochMilli(now()), holders, shown, waiters.size()));
    }

    String key() {
        return key;
    }

    KeyQueue queue() {
        return queue;
    }

    KeyLeases leases() {
        return leases;
    }

    boolean isEmpty() {
        return leases.isEmpty() && queue.isEmpty();
    }

    void removeLapsed() {
        leases.all().stream().filter(lease -> !lease.isLive(now())).forEach(this::remove);
    }

    private StoredLease grant(AcquireRequest request, Duration ttl, @Nullable QueueEntry entry) {
        StoredLease lease = new StoredLease(request, store.fences().next(key, now()), now(), ttl);
        queue.remove(entry);
        removeLapsed();
        leases.add(lease);
        store.granted(lease);
        return lease;
    }

    private void remove(StoredLease lease) {
        leases.remove(lease);
        store.ended(lease);
    }

    /** Wakes waiters behind it: they may have relied on its polls, or it may have been what blocked them. */
    private void leave(QueueEntry left) {
        List<QueueEntry> behind = queue.behind(left);
        queue.remove(left);
        boolean blocksReaders = KeyQueue.blocksReaders(left.request());
        wake(entry -> behind.contains(entry)
                && (blocksReaders
                        ? queue.isFirstOrBehindFirstReaders(entry)
                        : queue.isFirst(entry) && KeyQueue.conflict(entry.request(), left.request())));
    }

    /**
     * Grants the key to the waiters in front that accept a hand-over, as far as there is room.
     *
     * @return those of the process that releases
     */
    private List<HandOver> handOver(WaitingProcess releasing) {
        removeLapsed();
        List<HandOver> answered = new ArrayList<>();
        int granted = 0;
        QueueEntry next = nextHolder();
        while (next != null && granted < LockBackend.MAX_HAND_OVERS) {
            next.handOver(grant(next.request(), store.waiterTtl(), next).grant(), releasing)
                    .ifPresent(answered::add);
            granted++;
            next = nextHolder();
        }
        return answered;
    }

    /** The first waiter, if it accepts a hand-over and can be granted the key; never a reader without a limit. */
    private @Nullable QueueEntry nextHolder() {
        QueueEntry first = queue.first();
        boolean canBeGranted = first != null
                && first.acceptsHandOver()
                && KeyQueue.blocksReaders(first.request())
                && isGrantable(first)
                && store.fences().hasNext(key);
        return canBeGranted ? first : null;
    }

    /** Wakes the waiters for whom there is room, now or soon: no lease ends, so nothing else would wake them. */
    private void wakeBehind(AcquireRequest granted) {
        boolean hasWokenReaders = !KeyQueue.blocksReaders(granted);
        queue.entries().stream()
                .filter(this::isGrantableSoon)
                .filter(entry -> !hasWokenReaders || KeyQueue.blocksReaders(entry.request()))
                .forEach(QueueEntry::wake);
    }

    /** Wakes the waiters that can be granted the key, and those that have to look again even while it is held. */
    private void wake(Predicate<QueueEntry> always) {
        queue.removeLapsed(now());
        queue.entries().stream()
                .filter(entry -> isGrantable(entry) || always.test(entry))
                .forEach(QueueEntry::wake);
    }

    private boolean isGrantable(QueueEntry entry) {
        return isGrantableAt(now(), entry);
    }

    /** Whether lapses let it in before its next poll. It may not know of leases that others in front were granted. */
    private boolean isGrantableSoon(QueueEntry entry) {
        return isGrantableAt(now() + store.waiterTtl().toMillis() / 3, entry);
    }

    private boolean isGrantableAt(long time, QueueEntry entry) {
        return queue.isFirst(entry)
                && leases.conflicting(entry.request(), time, 0).isEmpty();
    }

    private Obstacles obstacles(@Nullable QueueEntry own, AcquireRequest request) {
        List<QueueEntry> inFront = queue.inFront(own, request);
        boolean inFrontIsGrantable =
                !inFront.isEmpty() && isGrantable(queue.entries().get(0));
        return new Obstacles(
                leases.conflicting(request, now(), 0),
                leases.conflicting(request, now(), inFrontIsGrantable ? inFront.size() : 0),
                inFront,
                request.permits());
    }

    private long waiterEnd() {
        return now() + store.waiterTtl().toMillis();
    }

    private long now() {
        return store.now();
    }
}
