package io.syncguard.spi;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Forwards every operation to another store. A subclass changes some of them. Thread-safe if that store is. */
public abstract class ForwardingBackend implements LockBackend {

    private final LockBackend store;

    protected ForwardingBackend(LockBackend store) {
        this.store = store;
    }

    protected final LockBackend store() {
        return store;
    }

    @Override
    public StoreInfo info() {
        return store.info();
    }

    @Override
    public String lockIdFor(String key, String random) {
        return store.lockIdFor(key, random);
    }

    @Override
    public int serverOf(String lockId) {
        return store.serverOf(lockId);
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return store.acquire(requests, extent);
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return store.release(requests);
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return store.extend(requests);
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        return store.renew(entries);
    }

    @Override
    public BooleanSupplier connect(WakeUpListener listener) {
        return store.connect(listener);
    }

    @Override
    public LockDirectory directory() {
        return store.directory();
    }

    @Override
    public @Nullable LeasePins pins() {
        return store.pins();
    }

    @Override
    public @Nullable PoolStatus pool() {
        return store.pool();
    }

    @Override
    public void disconnect() {
        store.disconnect();
    }

    @Override
    public void reconnect() {
        store.reconnect();
    }

    @Override
    public void close() {
        store.close();
    }
}
