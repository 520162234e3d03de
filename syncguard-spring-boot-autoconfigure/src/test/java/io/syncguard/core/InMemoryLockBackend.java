package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
 * The contract in its plainest form, for tests of everything above a backend. Several may share one {@link Store}, as
 * processes share a database.
 */
public final class InMemoryLockBackend implements LockBackend {

    private static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private final Store store;
    private @Nullable WakeUpListener wakeUps;

    /** Whether this process hears whom releases wake. */
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
    public AcquireResult acquire(AcquireRequest claim) {
        synchronized (store) {
            long now = store.now();
            Lease handedOver = claim.queued() ? store.lease(claim.lockId()) : null;
            if (handedOver != null && handedOver.isLive(now)) {
                handedOver.expiresAt = now + claim.ttl().toMillis();
                return handedOver.asGrant();
            }
            Place own = store.place(claim.lockId());
            List<Lease> inTheWay = store.leases.stream()
                    .filter(lease -> lease.isLive(now) && conflict(lease.claim, claim))
                    .toList();
            List<Long> leases = inTheWay.stream()
                    .map(lease -> lease.expiresAt + TOLERANCE_MILLIS)
                    .toList();
            List<Long> places =
                    store.inFront(own, claim).map(place -> place.expiresAt).toList();
            if (leases.isEmpty() && places.isEmpty()) {
                store.waiters.remove(own);
                return store.grant(claim, claim.ttl()).asGrant();
            }
            long firstLease = leases.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
            if (claim.waiter() == null) {
                if (own != null) {
                    store.leave(own);
                }
                long last = Stream.concat(leases.stream(), places.stream())
                        .mapToLong(Long::longValue)
                        .max()
                        .getAsLong();
                return new AcquireResult.Refused(Duration.ofMillis(last - now), holder(inTheWay));
            }
            if (own == null) {
                own = store.arrive(claim, this);
            }
            own.claim = claim;
            own.expiresAt = now + store.waiterTtl.toMillis();
            long next = LongStream.concat(
                            LongStream.of(firstLease), places.stream().mapToLong(Long::longValue))
                    .min()
                    .getAsLong();
            return new AcquireResult.Queued(Duration.ofMillis(next - now), holder(inTheWay));
        }
    }

    private static AcquireResult.@Nullable Holder holder(List<Lease> inTheWay) {
        return inTheWay.stream()
                .max(Comparator.comparing(lease -> lease.expiresAt))
                .map(last -> new AcquireResult.Holder(
                        last.claim.owner(), Instant.ofEpochMilli(last.acquiredAt), inTheWay.size() == 1))
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
            Place place = store.place(lockId);
            if (place != null) {
                store.leave(place);
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
            if (!handOver || !store.handOver(lease.claim.key())) {
                store.wake(lease.claim.key(), waiter -> false);
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
            store.wake(lease.claim.key(), store::isFirstOrBehindFirstReaders);
            return ReleaseResult.RELEASED;
        }
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        synchronized (store) {
            return lockIds.stream().map(this::keepPlace).toList();
        }
    }

    private Duration keepPlace(String lockId) {
        Place own = store.place(lockId);
        if (own == null) {
            return Duration.ZERO;
        }
        long now = store.now();
        own.expiresAt = now + store.waiterTtl.toMillis();
        long firstLease = store.leases.stream()
                .filter(lease -> lease.isLive(now) && conflict(lease.claim, own.claim))
                .mapToLong(lease -> lease.expiresAt + TOLERANCE_MILLIS)
                .min()
                .orElse(Long.MAX_VALUE);
        long firstPlace = store.inFront(own, own.claim)
                .mapToLong(place -> place.expiresAt)
                .min()
                .orElse(Long.MAX_VALUE);
        long next = Math.min(firstLease, firstPlace);
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
            if (lease == null || lease.claim.mode() == LockMode.SHARED) {
                return new ExtendResult.NotFound();
            }
            String key = lease.claim.key();
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
                    .filter(lease -> lease.claim.key().equals(key) && lease.isLive(store.now()))
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
            store.wake(lease.claim.key(), store::isFirstOrBehindFirstReaders);
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

    /** What several backends share. Guarded by itself. */
    public static final class Store {

        private final LongSupplier millis;
        private final Duration waiterTtl;
        private final List<Lease> leases = new ArrayList<>();
        private final List<Place> waiters = new ArrayList<>();
        private final Map<String, Long> fences = new HashMap<>();
        private long arrivals;

        /** @param millis the clock of the server */
        public Store(LongSupplier millis) {
            this(millis, WAITER_TTL);
        }

        Store(LongSupplier millis, Duration waiterTtl) {
            this.millis = millis;
            this.waiterTtl = waiterTtl;
        }

        /** Clears away which leases of the key are over. */
        synchronized void sweep(String key) {
            leases.removeIf(lease -> lease.claim.key().equals(key) && !lease.isLive(now()));
        }

        /** Ends the leases of the key and their tolerance now. */
        public synchronized void expire(String key) {
            leases.stream()
                    .filter(lease -> lease.claim.key().equals(key))
                    .forEach(lease -> lease.expiresAt = now() - TOLERANCE_MILLIS);
        }

        /** Ends the lease with this lock id and its tolerance now. */
        public synchronized void expireLease(String lockId) {
            leases.stream()
                    .filter(lease -> lease.claim.lockId().equals(lockId))
                    .forEach(lease -> lease.expiresAt = now() - TOLERANCE_MILLIS);
        }

        /** Ends the place of the waiter now. */
        public synchronized void expirePlace(String lockId) {
            endPlaceIn(lockId, Duration.ZERO);
        }

        /** Has the place of the waiter end so long from now. */
        public synchronized void endPlaceIn(String lockId, Duration left) {
            waiters.stream()
                    .filter(place -> place.claim.lockId().equals(lockId))
                    .forEach(place -> place.expiresAt = now() + left.toMillis());
        }

        /** As if so many fences had been drawn for the key. */
        public synchronized void drawnUpTo(String key, long fence) {
            fences.put(key, fence);
        }

        /** The last fence that was drawn for the key, zero if none was. */
        public synchronized long fence(String key) {
            return fences.getOrDefault(key, 0L);
        }

        /** The lock ids of those who wait for the key, by arrival. */
        public synchronized List<String> queue(String key) {
            return waiters.stream()
                    .filter(place -> place.claim.key().equals(key) && place.expiresAt > now())
                    .map(place -> place.claim.lockId())
                    .toList();
        }

        private long now() {
            return millis.getAsLong();
        }

        private @Nullable Lease lease(String lockId) {
            return leases.stream()
                    .filter(lease -> lease.claim.lockId().equals(lockId) && !lease.released)
                    .findFirst()
                    .orElse(null);
        }

        private @Nullable Place place(String lockId) {
            waiters.removeIf(place -> place.expiresAt <= now());
            return waiters.stream()
                    .filter(place -> place.claim.lockId().equals(lockId))
                    .findFirst()
                    .orElse(null);
        }

        /** Who waits before this place, or before somebody who has none. */
        private Stream<Place> inFront(@Nullable Place own, AcquireRequest claim) {
            return waiters.stream().takeWhile(place -> place != own).filter(place -> conflict(place.claim, claim));
        }

        private Lease grant(AcquireRequest claim, Duration ttl) {
            leases.removeIf(lease -> lease.claim.key().equals(claim.key()) && !lease.isLive(now()));
            Lease lease = new Lease(claim, nextFence(claim.key()), now(), ttl);
            leases.add(lease);
            return lease;
        }

        private long nextFence(String key) {
            return fences.merge(key, 1L, Long::sum);
        }

        private Place arrive(AcquireRequest claim, InMemoryLockBackend process) {
            Place place = new Place(claim, process, ++arrivals);
            waiters.add(place);
            return place;
        }

        /** Who was behind may have left it to that one to know when to look. */
        private void leave(Place left) {
            waiters.remove(left);
            wake(
                    left.claim.key(),
                    place -> isFirst(place) && place.arrival > left.arrival && conflict(place.claim, left.claim));
        }

        /** Grants the key to who is first and alone, if that one may be granted it so. */
        private boolean handOver(String key) {
            waiters.removeIf(place -> place.expiresAt <= now());
            Place first = waiters.stream()
                    .filter(place -> place.claim.key().equals(key))
                    .findFirst()
                    .orElse(null);
            if (first == null
                    || !first.claim.handOver()
                    || first.process.wakeUps == null
                    || leases.stream().anyMatch(lease -> lease.claim.key().equals(key))) {
                return false;
            }
            waiters.remove(first);
            first.process.handOver(
                    first.claim.waiter(), grant(first.claim, waiterTtl).asGrant());
            return true;
        }

        /** Wakes those who can go on, and those who have to look again whatever leases there are. */
        private void wake(String key, Predicate<Place> always) {
            waiters.removeIf(place -> place.expiresAt <= now());
            waiters.stream()
                    .filter(place -> place.claim.key().equals(key))
                    .filter(place -> canGoOn(place) || always.test(place))
                    .forEach(place -> place.process.wake(place.claim.waiter()));
        }

        private boolean canGoOn(Place place) {
            return isFirst(place)
                    && leases.stream().noneMatch(lease -> lease.isLive(now()) && conflict(lease.claim, place.claim));
        }

        private boolean isFirst(Place place) {
            return inFront(place, place.claim).findAny().isEmpty();
        }

        private boolean isFirstOrBehindFirstReaders(Place place) {
            return inFront(place, place.claim).allMatch(front -> front.claim.mode() == LockMode.SHARED);
        }
    }

    private static final class Place {

        /** The last one: it is known by that number. */
        private AcquireRequest claim;

        private final InMemoryLockBackend process;
        private final long arrival;
        private long expiresAt;

        Place(AcquireRequest claim, InMemoryLockBackend process, long arrival) {
            this.claim = claim;
            this.process = process;
            this.arrival = arrival;
        }
    }

    private static final class Lease {

        private final AcquireRequest claim;
        private final long acquiredAt;

        /** It only keeps the key for a while, and is nobody's. */
        private boolean released;

        private long fence;
        private long expiresAt;

        Lease(AcquireRequest claim, long fence, long now, Duration ttl) {
            this.claim = claim;
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

        RawLockInfo info() {
            return new RawLockInfo(
                    claim.key(),
                    released ? "released:" + claim.lockId() : claim.lockId(),
                    claim.mode(),
                    Instant.ofEpochMilli(acquiredAt),
                    Instant.ofEpochMilli(expiresAt),
                    new Fence(fence),
                    claim.owner());
        }
    }
}
