package io.syncguard.core;

import io.syncguard.BackendInfo;
import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockAdmin;
import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Asks the store of an engine for operators. Thread-safe. */
final class StoreAdmin implements LockAdmin {

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final ForcedReleaser forcedReleaser;

    StoreAdmin(LockBackend backend, LeaseMonitor monitor, ForcedReleaser forcedReleaser) {
        this.backend = backend;
        this.monitor = monitor;
        this.forcedReleaser = forcedReleaser;
    }

    @Override
    public BackendInfo backend() {
        return backend.info().backend();
    }

    @Override
    public List<LockInfo> holders(String key) {
        return debugLookup(key).stream().map(Hashes::abbreviated).toList();
    }

    @Override
    public Optional<LockInfo> lookupById(String lockId) {
        return debugLookupById(lockId).map(Hashes::abbreviated);
    }

    @Override
    public List<RawLockInfo> debugLookup(String key) {
        return ask(directory -> directory.lookup(LockLimits.key(key)));
    }

    @Override
    public Optional<RawLockInfo> debugLookupById(String lockId) {
        return ask(directory -> directory.lookupById(monitor.keyed(LockLimits.lockId(lockId))));
    }

    @Override
    public LockPage list(LockQuery query) {
        return ask(directory -> directory.list(LockLimits.requireNonNull("query", query)));
    }

    @Override
    public LockSummary summary() {
        return ask(LockDirectory::summary);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return ask(directory -> directory.status(LockLimits.key(key)));
    }

    @Override
    public ForcedRelease forceRelease(String key, String reason) {
        return BackendFailure.ask(() -> forcedReleaser.release(LockLimits.key(key), null, reason));
    }

    @Override
    public ForcedRelease forceRelease(String key, Fence fence, String reason) {
        Fence only = LockLimits.requireNonNull("fence", fence);
        return BackendFailure.ask(() -> forcedReleaser.release(LockLimits.key(key), only, reason));
    }

    private <T> T ask(Function<LockDirectory, T> question) {
        return BackendFailure.ask(() -> question.apply(backend.directory()));
    }
}
