package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.rules.KeyState;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockCount;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.LockSelection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks into an {@link InMemoryStore}. */
final class InMemoryDirectory implements LockDirectory {

    private final InMemoryStore store;

    InMemoryDirectory(InMemoryStore store) {
        this.store = store;
    }

    @Override
    public boolean isLocked(String key) {
        return !lookup(key).isEmpty();
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return store.read(key, KeyState::lookup);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return store.call(() -> lookup(store.keyOf(id)).stream()
                .filter(lease -> lease.lockId().equals(id.lockId()))
                .findFirst());
    }

    @Override
    public LockPage list(LockQuery query) {
        return store.call(() -> {
            LockSelection page = new LockSelection(query);
            store.used()
                    .filter(key -> LockSelection.fits(query, key.key()))
                    .flatMap(key -> key.status(store.now(), LockSelection.entries(query)).stream())
                    .forEach(page::offer);
            return page.page();
        });
    }

    @Override
    public LockSummary summary() {
        return store.call(() -> {
            LockCount count = new LockCount();
            store.used().flatMap(key -> key.status(store.now()).stream()).forEach(count::add);
            return count.summary();
        });
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return store.read(key, KeyState::status);
    }

    @Override
    public ForcedRelease forceRelease(String key, @Nullable Fence only) {
        return store.step(key, (state, now) -> store.rules().forceRelease(state, lease -> lease.hasFence(only), now));
    }
}
