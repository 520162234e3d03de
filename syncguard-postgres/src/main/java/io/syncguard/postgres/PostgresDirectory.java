package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockDirectory;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads the tables of the locks, and ends leases by force. */
final class PostgresDirectory implements LockDirectory {

    private final PostgresConnections connections;
    private final LookupStatement lookup;
    private final ListStatement list;
    private final ReleaseStatement release;
    private final Consumer<String> lapsed;

    /** @param lapsed gets each key whose lease {@code isLocked} found lapsed */
    PostgresDirectory(
            PostgresConnections connections, PostgresTables tables, ReleaseStatement release, Consumer<String> lapsed) {
        this.connections = connections;
        this.lookup = new LookupStatement(tables);
        this.list = new ListStatement(tables);
        this.release = release;
        this.lapsed = lapsed;
    }

    @Override
    public boolean isLocked(String key) {
        Optional<Boolean> live = lookup.isLocked(connections, key);
        if (live.isPresent() && !live.get()) {
            lapsed.accept(key);
        }
        return live.orElse(false);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return lookup.byKey(connections, key);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return lookup.byId(connections, id.lockId());
    }

    @Override
    public LockPage list(LockQuery query) {
        return list.list(connections, query);
    }

    @Override
    public LockSummary summary() {
        return list.summary(connections);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return list.status(connections, key).stream().findFirst();
    }

    @Override
    public ForcedRelease forceRelease(String key, @Nullable Fence only) {
        return release.force(connections, key, only);
    }
}
