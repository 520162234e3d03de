package io.syncguard;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Passes each call to the admin of the current manager: see {@link LockManager#admin}. */
final class RoutingLockAdmin implements LockAdmin {

    private final Supplier<LockAdmin> current;

    RoutingLockAdmin(Supplier<LockAdmin> current) {
        this.current = current;
    }

    @Override
    public BackendInfo backend() {
        return current.get().backend();
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
    public LockSummary summary() {
        return current.get().summary();
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
    public ForcedRelease forceRelease(String key, Fence fence, String reason) {
        return current.get().forceRelease(key, fence, reason);
    }
}
