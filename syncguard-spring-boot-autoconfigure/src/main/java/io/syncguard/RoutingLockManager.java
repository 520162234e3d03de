package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes each call to the manager of the moment: see {@link LockManager#routing}. */
final class RoutingLockManager implements LockManager {

    private final Supplier<? extends LockManager> current;

    RoutingLockManager(Supplier<? extends LockManager> current) {
        this.current = current;
    }

    @Override
    public LockHandle acquire(LockRequest request) {
        return current.get().acquire(request);
    }

    @Override
    public @Nullable LockHandle tryAcquire(LockRequest request) {
        return current.get().tryAcquire(request);
    }

    @Override
    public boolean isLocked(String key) {
        return current.get().isLocked(key);
    }

    @Override
    public Optional<LockInfo> lookup(String key) {
        return current.get().lookup(key);
    }

    @Override
    public List<LockInfo> holders(String key) {
        return current.get().holders(key);
    }

    @Override
    public Optional<LockInfo> lookupById(String lockId) {
        return current.get().lookupById(lockId);
    }

    @Override
    public List<RawLockInfo> debugLookup(String key) {
        return current.get().debugLookup(key);
    }

    @Override
    public Optional<RawLockInfo> debugLookupById(String lockId) {
        return current.get().debugLookupById(lockId);
    }

    @Override
    public LockPage list(LockQuery query) {
        return current.get().list(query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return current.get().status(key);
    }

    @Override
    public ForcedRelease forceRelease(String key, String reason) {
        return current.get().forceRelease(key, reason);
    }

    @Override
    public boolean owns(String lockId) {
        return current.get().owns(lockId);
    }

    @Override
    public boolean release(String lockId) {
        return current.get().release(lockId);
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        return current.get().extend(lockId, ttl);
    }
}
