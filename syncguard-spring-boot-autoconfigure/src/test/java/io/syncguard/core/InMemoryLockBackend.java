package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The contract in its simplest form, for tests of everything above a backend. Several backends may share one
 * {@link Store}, as processes share a database.
 */
public final class InMemoryLockBackend implements LockBackend {

    private static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final Store store;
    private @Nullable WakeUpListener wakeUps;

    /** Whether this process receives the wake-ups of releases. */
    volatile boolean connected = true;

    public InMemoryLockBackend() {
        this(new Store(() -> Time.SYSTEM.nanoTime() / 1_000_000));
    }

    public InMemoryLockBackend(Store store) {
        this.store = store;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        synchronized (store) {
            long now = store.now();
            Lease handedOver = request.queued() ? store.lease(request.lockId()) : null;
            if (handedOver != null && handedOver.isLive(now)) {
                handedOver.expiresAt = now + request.ttl().toMillis();
                return handedOver.asGrant();
            }
            QueueEntry own = store.entry(request.lockId());
            List<Lease> inTheWay = store.leases.stream()
                    .filter(lease -> lease.isLive(now) && conflict(lease.request, request))
                    .toList();
            List<Long> leases = inTheWay.stream()
                    .map(lease -> lease.expiresAt + TOLERANCE_MILLIS)
                    .toList();
            List<Long> entriesInFront =
                    store.inFront(own, request).map(entry -> entry.expiresAt).toList();
            if (leases.isEmpty() && entriesInFront.isEmpty()) {
                store.waiters.remove(own);
                return store.grant(request, request.ttl()).asGrant();
            }
            long firstLease = leases.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
            if (request.waiter() == null) {
                if (own != null) {
                    store.leave(own);
                }
                long last = Stream.concat(leases.stream(), entriesInFront.stream())
                        .mapToLong(Long::longValue)
                        .max()
                        .getAsLong();
                return new AcquireResult.Refused(Duration.ofMillis(last - now), holder(inTheWay));
            }
            if (own == null) {
                own = store.arrive(request, this);
            }
            own.request = request;
            own.expiresAt = now + store.waiterTtl.toMillis();
            long next = LongStream.concat(
                            LongStream.of(firstLease), entriesInFront.stream().mapToLong(Long::longValue))
                    .min()
                    .getAsLong();
            return new AcquireResult.Queued(Duration.ofMillis(next - now), holder(inTheWay));
        }
    }

    private static AcquireResult.@Nullable Holder holder(List<Lease> inTheWay) {
        return inTheWay.stream()
                .max(Comparator.comparing(lease -> lease.expiresAt))
                .map(last -> new AcquireResult.Holder(
                        last.request.owner(), Instant.ofEpochMilli(last.acquiredAt), inTheWay.size() == 1, false))
                .orElse(null);
    }

    @Override
    public ReleaseResult release(String lockId) {
        return release(lockId, true);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<String> lockIds) {
        synchronized (store) {
            return lockIds.stream().map(lockId -> release(lockId, false)).toList();
        }
    }

    private ReleaseResult release(String lockId, boolean handOver) {
        synchronized (store) {
            QueueEntry entry = store.entry(lockId);
            if (entry != null) {
                store.leave(entry);
                return ReleaseResult.LEFT;
            }
            Lease lease = store.lease(lockId);
            if (lease == null) {
                return ReleaseResult.NOT_FOUND;
            }
            if (!lease.isLive(store.now())) {
                return ReleaseResult.EXPIRED;
            }
            store.leases.remove(lease);
            if (!handOver || !store.handOver(lease.request.key())) {
                store.wake(lease.request.key(), waiter -> false);
            }
            return ReleaseResult.RELEASED;
        }
    }

    @Override
    public ReleaseResult releaseAfter(String lockId, Duration held) {
        synchronized (store) {
            Lease lease = store.lease(lockId);
            if (lease == null) {
                return ReleaseResult.NOT_FOUND;
            }
            if (!lease.isLive(store.now())) {
                return ReleaseResult.EXPIRED;
            }
            lease.released = true;
            lease.expiresAt = lease.acquiredAt + held.toMillis() - TOLERANCE_MILLIS;
            store.wake(lease.request.key(), store::isFirstOrBehindFirstReaders);
            return ReleaseResult.RELEASED;
        }
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        synchronized (store) {
            return lockIds.stream().map(this::renewQueueEntry).toList();
        }
    }

    private Duration renewQueueEntry(String lockId) {
        QueueEntry own = store.entry(lockId);
        if (own == null) {
            return Duration.ZERO;
        }
        long now = store.now();
        own.expiresAt = now + store.waiterTtl.toMillis();
        long firstLease = store.leases.stream()
                .filter(lease -> lease.isLive(now) && conflict(lease.request, own.request))
                .mapToLong(lease -> lease.expiresAt + TOLERANCE_MILLIS)
                .min()
                .orElse(Long.MAX_VALUE);
        long firstEntry = store.inFront(own, own.request)
                .mapToLong(entry -> entry.expiresAt)
                .min()
                .orElse(Long.MAX_VALUE);
        long next = Math.min(firstLease, firstEntry);
        return next == Long.MAX_VALUE ? Duration.ZERO : Duration.ofMillis(next - now);
    }

    @Override
    public Duration waiterTtl() {
        return store.waiterTtl;
    }

    @Override
    public void connect(WakeUpListener engine) {
        this.wakeUps = engine;
    }

    @Override
    public boolean isConnected() {
        return connected;
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        synchronized (store) {
            return extensions.stream().map(this::extendOne).toList();
        }
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend(List.of(extension)).get(0);
    }

    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        synchronized (store) {
            Lease lease = store.lease(extension.lockId());
            if (lease == null || lease.request.mode() == LockMode.SHARED) {
                return new ExtendResult.NotFound();
            }
            String key = lease.request.key();
            if (lease.isLive(store.now()) && store.fence(key) == Fence.MAX_VALUE) {
                throw new LockBackendException(LockErrorCode.INTERNAL, "Its key has no fences left", null);
            }
            if (extendOne(extension) instanceof ExtendResult.Extended extended) {
                lease.fence = store.nextFence(key);
                return new ExtendResult.Rotated(extended.expiresAt(), new Fence(lease.fence));
            }
            return new ExtendResult.Expired();
        }
    }

    @Override
    public boolean isLocked(String key) {
        return !lookup(key).isEmpty();
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        synchronized (store) {
            return store.leases.stream()
                    .filter(lease -> lease.request.key().equals(key) && lease.isLive(store.now()))
                    .map(Lease::info)
                    .sorted(Comparator.comparing(RawLockInfo::fence))
                    .toList();
        }
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        synchronized (store) {
            return Optional.ofNullable(store.lease(lockId))
                    .filter(lease -> lease.isLive(store.now()))
                    .map(Lease::info);
        }
    }

    @Override
    public LockPage list(LockQuery query) {
        synchronized (store) {
            List<LockStatus> found = Stream.concat(
                            store.leases.stream().map(lease -> lease.request.key()),
                            store.waiters.stream().map(entry -> entry.request.key()))
                    .distinct()
                    .filter(key -> key.startsWith(query.prefix()) && BY_BYTES.compare(key, query.after()) > 0)
                    .sorted(BY_BYTES)
                    .flatMap(key -> status(key).stream())
                    .limit(query.limit() + 1L)
                    .toList();
            return LockPage.of(found, query.limit());
        }
    }

    @Override
    public Optional<LockStatus> status(String key) {
        synchronized (store) {
            long now = store.now();
            List<LockStatus.Holder> holders = store.leases.stream()
                    .filter(lease -> lease.request.key().equals(key) && lease.isLive(now))
                    .map(Lease::holder)
                    .sorted(Comparator.comparing(LockStatus.Holder::fence))
                    .toList();
            List<LockStatus.Waiter> waiters = store.waiters.stream()
                    .filter(entry -> entry.request.key().equals(key) && entry.expiresAt > now)
                    .map(QueueEntry::waiter)
                    .toList();
            return holders.isEmpty() && waiters.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new LockStatus(
                            key,
                            Instant.ofEpochMilli(now),
                            holders,
                            waiters.subList(0, Math.min(waiters.size(), LockStatus.MAX_QUEUE)),
                            waiters.size()));
        }
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        synchronized (store) {
            int released = lookup(key).size();
            if (released == 0) {
                return new ForcedRelease(key, 0, 0, null);
            }
            long fence = store.nextFence(key);
            store.leases.removeIf(lease -> lease.request.key().equals(key));
            store.wake(key, waiter -> false);
            return new ForcedRelease(key, released, 0, new Fence(fence));
        }
    }

    @Override
    public Duration inDoubtPeriod() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void close() {}

    private ExtendResult extendOne(ExtendRequest extension) {
        Lease lease = store.lease(extension.lockId());
        if (lease == null) {
            return new ExtendResult.NotFound();
        }
        if (!lease.isLive(store.now())) {
            return new ExtendResult.Expired();
        }
        long before = lease.expiresAt;
        lease.expiresAt = store.now() + extension.ttl().toMillis();
        if (lease.expiresAt < before) {
            store.wake(lease.request.key(), store::isFirstOrBehindFirstReaders);
        }
        return new ExtendResult.Extended(Instant.ofEpochMilli(lease.expiresAt));
    }

    private void wake(long waiter) {
        if (connected && wakeUps != null) {
            wakeUps.wake(waiter);
        }
    }

    private void handOver(long waiter, AcquireResult.Granted grant) {
        if (connected && wakeUps != null) {
            wakeUps.handOver(waiter, grant);
        }
    }

    private static boolean conflict(AcquireRequest one, AcquireRequest other) {
        return one.key().equals(other.key())
                && (one.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE);
    }

    /** The shared state of several backends. Guarded by itself. */
    public static final class Store {

        private final LongSupplier millis;
        private final Duration waiterTtl;
        private final FenceSource source;
        private final List<Lease> leases = new ArrayList<>();
        private final List<QueueEntry> waiters = new ArrayList<>();
        private final Map<String, Long> fences = new HashMap<>();
        private long arrivals;

        /** @param millis the clock of the server */
        public Store(LongSupplier millis) {
            this(millis, WAITER_TTL, FenceSource.COUNTER);
        }

        Store(LongSupplier millis, Duration waiterTtl, FenceSource source) {
            this.millis = millis;
            this.waiterTtl = waiterTtl;
            this.source = source;
        }

        /** Deletes the lapsed leases of the key. */
        synchronized void sweep(String key) {
            leases.removeIf(lease -> lease.request.key().equals(key) && !lease.isLive(now()));
        }

        /** Ends the leases of the key and their tolerance now. */
        public synchronized void expire(String key) {
            leases.stream()
                    .filter(lease -> lease.request.key().equals(key))
                    .forEach(lease -> lease.expiresAt = now() - TOLERANCE_MILLIS);
        }

        /** Ends the lease with this lock id and its tolerance now. */
        public synchronized void expireLease(String lockId) {
            leases.stream()
                    .filter(lease -> lease.request.lockId().equals(lockId))
                    .forEach(lease -> lease.expiresAt = now() - TOLERANCE_MILLIS);
        }

        /** Ends the entry of the waiter now. */
        public synchronized void expireQueueEntry(String lockId) {
            endQueueEntryIn(lockId, Duration.ZERO);
        }

        /** Lets the entry of the waiter end after this time. */
        public synchronized void endQueueEntryIn(String lockId, Duration left) {
            waiters.stream()
                    .filter(entry -> entry.request.lockId().equals(lockId))
                    .forEach(entry -> entry.expiresAt = now() + left.toMillis());
        }

        /** Sets the counter as if this number of fences had been drawn for the key. */
        public synchronized void drawnUpTo(String key, long fence) {
            fences.put(key, fence);
        }

        /** Deletes the counter. */
        synchronized void loseCounter(String key) {
            fences.remove(key);
        }

        /** The last fence that was drawn for the key, zero if none was. */
        public synchronized long fence(String key) {
            return fences.getOrDefault(key, 0L);
        }

        /** The lock ids of the key's waiters, by arrival. */
        public synchronized List<String> queue(String key) {
            return waiters.stream()
                    .filter(entry -> entry.request.key().equals(key) && entry.expiresAt > now())
                    .map(entry -> entry.request.lockId())
                    .toList();
        }

        private long now() {
            return millis.getAsLong();
        }

        private @Nullable Lease lease(String lockId) {
            return leases.stream()
                    .filter(lease -> lease.request.lockId().equals(lockId) && !lease.released)
                    .findFirst()
                    .orElse(null);
        }

        private @Nullable QueueEntry entry(String lockId) {
            waiters.removeIf(entry -> entry.expiresAt <= now());
            return waiters.stream()
                    .filter(entry -> entry.request.lockId().equals(lockId))
                    .findFirst()
                    .orElse(null);
        }

        /** The conflicting waiters in front of this entry, or in front of a caller without an entry. */
        private Stream<QueueEntry> inFront(@Nullable QueueEntry own, AcquireRequest request) {
            return waiters.stream().takeWhile(entry -> entry != own).filter(entry -> conflict(entry.request, request));
        }

        private Lease grant(AcquireRequest request, Duration ttl) {
            leases.removeIf(lease -> lease.request.key().equals(request.key()) && !lease.isLive(now()));
            Lease lease = new Lease(request, nextFence(request.key()), now(), ttl);
            leases.add(lease);
            return lease;
        }

        private long nextFence(String key) {
            long first = source == FenceSource.CLOCK ? now() * 10 : 1;
            return fences.merge(key, first, (last, any) -> Math.max(last + 1, first));
        }

        private QueueEntry arrive(AcquireRequest request, InMemoryLockBackend process) {
            QueueEntry entry = new QueueEntry(request, process, ++arrivals, now());
            waiters.add(entry);
            return entry;
        }

        /**
         * Waiters behind it may have relied on its polls and have to look again; so may a writer whom readers let pass.
         */
        private void leave(QueueEntry left) {
            waiters.remove(left);
            wake(
                    left.request.key(),
                    entry -> entry.arrival > left.arrival
                            && (left.request.mode() == LockMode.EXCLUSIVE
                                    ? isFirstOrBehindFirstReaders(entry)
                                    : isFirst(entry) && conflict(entry.request, left.request)));
        }

        /** Grants the key to the first waiter, if no lease is left and it accepts a hand-over. */
        private boolean handOver(String key) {
            sweep(key);
            waiters.removeIf(entry -> entry.expiresAt <= now());
            QueueEntry first = waiters.stream()
                    .filter(entry -> entry.request.key().equals(key))
                    .findFirst()
                    .orElse(null);
            if (first == null
                    || !first.request.handOver()
                    || first.process.wakeUps == null
                    || leases.stream().anyMatch(lease -> lease.request.key().equals(key))) {
                return false;
            }
            waiters.remove(first);
            first.process.handOver(
                    first.request.waiter(), grant(first.request, waiterTtl).asGrant());
            return true;
        }

        /** Wakes the waiters that can be granted the key, and those that have to look again even while it is held. */
        private void wake(String key, Predicate<QueueEntry> always) {
            waiters.removeIf(entry -> entry.expiresAt <= now());
            waiters.stream()
                    .filter(entry -> entry.request.key().equals(key))
                    .filter(entry -> canGoOn(entry) || always.test(entry))
                    .forEach(entry -> entry.process.wake(entry.request.waiter()));
        }

        private boolean canGoOn(QueueEntry entry) {
            return isFirst(entry)
                    && leases.stream()
                            .noneMatch(lease -> lease.isLive(now()) && conflict(lease.request, entry.request));
        }

        private boolean isFirst(QueueEntry entry) {
            return inFront(entry, entry.request).findAny().isEmpty();
        }

        private boolean isFirstOrBehindFirstReaders(QueueEntry entry) {
            return inFront(entry, entry.request).allMatch(front -> front.request.mode() == LockMode.SHARED);
        }
    }

    private static final class QueueEntry {

        /** The last request, whose number identifies the waiter. */
        private AcquireRequest request;

        private final InMemoryLockBackend process;
        private final long arrival;
        private final long arrivedAt;
        private long expiresAt;

        QueueEntry(AcquireRequest request, InMemoryLockBackend process, long arrival, long arrivedAt) {
            this.request = request;
            this.process = process;
            this.arrival = arrival;
            this.arrivedAt = arrivedAt;
        }

        LockStatus.Waiter waiter() {
            return new LockStatus.Waiter(request.mode(), request.owner(), Instant.ofEpochMilli(arrivedAt));
        }
    }

    private static final class Lease {

        private final AcquireRequest request;
        private final long acquiredAt;

        /** Without a holder: the lease only blocks the key until its time to hold at least is over. */
        private boolean released;

        private long fence;
        private long expiresAt;

        Lease(AcquireRequest request, long fence, long now, Duration ttl) {
            this.request = request;
            this.fence = fence;
            this.acquiredAt = now;
            this.expiresAt = now + ttl.toMillis();
        }

        boolean isLive(long now) {
            return expiresAt > now - TOLERANCE_MILLIS;
        }

        AcquireResult.Granted asGrant() {
            return new AcquireResult.Granted(
                    new Fence(fence), Instant.ofEpochMilli(acquiredAt), Instant.ofEpochMilli(expiresAt));
        }

        LockStatus.Holder holder() {
            return new LockStatus.Holder(
                    request.mode(),
                    request.owner(),
                    Instant.ofEpochMilli(acquiredAt),
                    Instant.ofEpochMilli(expiresAt),
                    new Fence(fence));
        }

        RawLockInfo info() {
            return new RawLockInfo(
                    request.key(),
                    released ? "released:" + request.lockId() : request.lockId(),
                    request.mode(),
                    Instant.ofEpochMilli(acquiredAt),
                    Instant.ofEpochMilli(expiresAt),
                    new Fence(fence),
                    request.owner());
        }
    }
}
