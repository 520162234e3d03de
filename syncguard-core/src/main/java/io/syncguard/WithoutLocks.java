package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Grants each request at once, and stores nothing: see {@link LockManager#withoutLocks}. */
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
        public LockSummary summary() {
            return new LockSummary(0, 0, 0, 0, Duration.ZERO, Duration.ZERO, List.of());
        }

        @Override
        public Optional<LockStatus> status(String key) {
            return Optional.empty();
        }

        @Override
        public ForcedRelease forceRelease(String key, String reason) {
            return ForcedRelease.ofFreeKey(LockLimits.key(key));
        }

        @Override
        public ForcedRelease forceRelease(String key, Fence fence, String reason) {
            return forceRelease(key, reason);
        }
    }

    /** The handle of a body that runs without a lock. It is never lost. Thread-safe. */
    private static final class UnlockedHandle implements CurrentLocks.Scoped {

        private static final CurrentLocks.Scope NOTHING = new CurrentLocks.Scope() {
            @Override
            public @Nullable LockException failed(Throwable failure) {
                return null;
            }

            @Override
            public void close() {}
        };

        private final LockRequest request;
        private final LongSupplier fences;
        private final String lockId;
        private final AtomicBoolean released = new AtomicBoolean();

        /** Written by the thread that rotates it, read by all. */
        private volatile Fence fence;

        UnlockedHandle(LockRequest request, LongSupplier fences) {
            this.request = request;
            this.fences = fences;
            this.fence = new Fence(fences.getAsLong());
            // It has the length of a real lock id. It is not secret, because it releases nothing.
            this.lockId = String.format(Locale.ROOT, "unlocked%014d", fence.value());
        }

        @Override
        public LockRequest request() {
            return request;
        }

        @Override
        public String key() {
            return request.key();
        }

        @Override
        public String lockId() {
            return lockId;
        }

        @Override
        public Fence fence() {
            return fence;
        }

        @Override
        public LockMode mode() {
            return request.mode();
        }

        @Override
        public State state() {
            return released.get() ? State.RELEASED : State.HELD;
        }

        @Override
        public Duration remaining() {
            return isHeld() ? LockLimits.MAX_DURATION : Duration.ZERO;
        }

        @Override
        public Instant expiresAt() {
            return Instant.ofEpochMilli(Long.MAX_VALUE);
        }

        @Override
        public boolean extend(Duration ttl) {
            LockLimits.ttl(ttl);
            return isHeld();
        }

        @Override
        public Fence rotateFence() {
            fence = new Fence(fences.getAsLong());
            return fence;
        }

        @Override
        public boolean release() {
            return released.compareAndSet(false, true);
        }

        @Override
        public void onLost(Runnable callback) {}

        @Override
        public void close() {
            release();
        }

        @Override
        public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
            return () -> CurrentLocks.call(this, task);
        }

        @Override
        public CurrentLocks.Scope enter() {
            return NOTHING;
        }

        @Override
        public String toString() {
            return OneLine.of("no lock for '" + key() + "'");
        }
    }
}
