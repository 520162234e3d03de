package io.syncguard.portable;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockPosition;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.portable.KeyRows.States;
import io.syncguard.rules.KeyRules;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockDirectory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks into the tables. */
final class PortableDirectory implements LockDirectory {

    private final JdbcConnections connections;
    private final KeySteps steps;
    private final KeyRules rules;
    private final LeaseRows rows;

    PortableDirectory(JdbcConnections connections, KeySteps steps, KeyRules rules, LeaseRows rows) {
        this.connections = connections;
        this.steps = steps;
        this.rules = rules;
        this.rows = rows;
    }

    @Override
    public boolean isLocked(String key) {
        return !lookup(key).isEmpty();
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        States seen = look("looking up lock '" + key + "'", List.of(key));
        return seen.of(key).lookup(seen.now());
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        String key = id.key() == null
                ? steps.keysOf(connections, List.of(id.lockId())).get(0)
                : id.key();
        return key == null
                ? Optional.empty()
                : lookup(key).stream()
                        .filter(lease -> lease.lockId().equals(id.lockId()))
                        .findFirst();
    }

    @Override
    public LockPage list(LockQuery query) {
        Map<LockPosition, LockStatus> found = new LinkedHashMap<>();
        LockPosition last = query.position();
        List<LockPosition> positions;
        do {
            positions = rows.used(query, last, query.limit() + 1);
            if (!positions.isEmpty()) {
                States seen = look(
                        "listing locks",
                        positions.stream().map(LockPosition::key).toList());
                positions.forEach(position -> seen.of(position.key())
                        .status(seen.now())
                        .filter(lock -> !query.isWaitedFor() || lock.waiters() > 0)
                        .ifPresent(lock -> found.put(position, lock)));
                last = positions.get(positions.size() - 1);
            }
        } while (positions.size() > query.limit() && found.size() <= query.limit());
        return new LockPage(
                found.values().stream().limit(query.limit()).toList(),
                found.keySet().stream()
                        .skip(query.limit() - 1L)
                        .limit(found.size() - query.limit() > 0 ? 1 : 0)
                        .map(LockPosition::toString)
                        .findFirst()
                        .orElse(null));
    }

    @Override
    public LockSummary summary() {
        return rows.summary(list(LockSummary.QUEUES).locks());
    }

    @Override
    public Optional<LockStatus> status(String key) {
        States seen = look("looking up lock '" + key + "'", List.of(key));
        return seen.of(key).status(seen.now());
    }

    @Override
    public ForcedRelease forceRelease(String key, @Nullable Fence only) {
        States seen = look("releasing lock '" + key + "' by force", List.of(key));
        if (seen.of(key).leases().isEmpty()) {
            return ForcedRelease.ofFreeKey(key);
        }
        return steps.run(
                "releasing lock '" + key + "' by force",
                connections,
                connections.timeout(),
                List.of(key),
                KeySteps.Locking.FORCING,
                locked -> locked.done(rules.forceRelease(
                        locked.of(key), lease -> lease.hasFence(only) && !locked.keeps(lease), locked.now())));
    }

    private States look(String doing, List<String> keys) {
        return steps.look(doing, connections, connections.timeout(), keys);
    }
}
