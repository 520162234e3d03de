package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Grants everything to everybody, and remembers nothing: see {@link LockManager#withoutLocks}. */
final class WithoutLocks implements LockManager {

    /** One counter for all keys, so that the fences of each key grow. */
    private final AtomicLong fences = new AtomicLong();

    @Override
    public LockHandle acquire(LockRequest request) {
        return new UnlockedHandle(request, fences::incrementAndGet);
    }

    @Override
    public LockHandle tryAcquire(LockRequest request) {
        return acquire(request);
    }

    @Override
    public LockHandles acquire(List<LockRequest> requests) {
        Map<String, LockHandle> byKey = new HashMap<>();
        return LockHandles.of(LockLimits.requests(requests).stream()
                .map(request -> byKey.computeIfAbsent(request.key(), key -> acquire(request)))
                .toList());
    }

    @Override
    public LockHandles tryAcquire(List<LockRequest> requests) {
        return acquire(requests);
    }

    @Override
    public boolean isLocked(String key) {
        return false;
    }

    @Override
    public boolean owns(String lockId) {
        return false;
    }

    @Override
    public boolean release(String lockId) {
        return false;
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        return Optional.empty();
    }

    @Override
    public LockAdmin admin() {
        return new NothingToSee();
    }

    private static final class NothingToSee implements LockAdmin {

        @Override
        public BackendInfo backend() {
            return new BackendInfo("none", false, BackendInfo.Clock.PROCESS);
        }

        @Override
        public List<LockInfo> holders(String key) {
            return List.of();
        }

        @Override
        public Optional<LockInfo> lookupById(String lockId) {
            return Optional.empty();
        }

        @Override
        public List<RawLockInfo> debugLookup(String key) {
            return List.of();
        }

        @Override
        public Optional<RawLockInfo> debugLookupById(String lockId) {
            return Optional.empty();
        }

        @Override
        public LockPage list(LockQuery query) {
            return new LockPage(List.of(), null);
        }

        @Override
        public Optional<LockStatus> status(String key) {
            return Optional.empty();
        }

        @Override
        public ForcedRelease forceRelease(String key, String reason) {
            return new ForcedRelease(LockLimits.key(key), 0, 0, null);
        }
    }
}
