package io.syncguard.memory;

import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.rules.KeyState;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockDirectory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Looks into an {@link InMemoryStore}. */
final class InMemoryDirectory implements LockDirectory {

    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

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
        return store.call(() -> LockPage.of(
                store.used()
                        .filter(key ->
                                key.key().startsWith(query.prefix()) && BY_BYTES.compare(key.key(), query.after()) > 0)
                        .sorted(Comparator.comparing(KeyState::key, BY_BYTES))
                        .flatMap(key -> key.status(store.now()).stream())
                        .limit(query.limit() + 1L)
                        .toList(),
                query.limit()));
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return store.read(key, KeyState::status);
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return store.step(key, store.rules()::forceRelease);
    }
}
