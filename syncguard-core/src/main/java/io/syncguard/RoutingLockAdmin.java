package io.syncguard;

import java.util.List;
import java.util.Optional;

/** Passes each call to the admin of the manager of the moment: see {@link LockManager#admin}. */
final class RoutingLockAdmin implements LockAdmin {

    private final LockManager manager;

    RoutingLockAdmin(LockManager manager) {
        this.manager = manager;
    }

    @Override
    public BackendInfo backend() {
        return current().backend();
    }

    @Override
    public List<LockInfo> holders(String key) {
        return current().holders(key);
    }

    @Override
    public Optional<LockInfo> lookupById(String lockId) {
        return current().lookupById(lockId);
    }

    @Override
    public List<RawLockInfo> debugLookup(String key) {
        return current().debugLookup(key);
    }

    @Override
    public Optional<RawLockInfo> debugLookupById(String lockId) {
        return current().debugLookupById(lockId);
    }

    @Override
    public LockPage list(LockQuery query) {
        return current().list(query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return current().status(key);
    }

    @Override
    public ForcedRelease forceRelease(String key, String reason) {
        return current().forceRelease(key, reason);
    }

    private LockAdmin current() {
        LockManager current = LockSetupException.requireAnswer("LockManager.current", manager.current());
        return LockSetupException.requireAnswer("LockManager.admin", current.admin());
    }
}
