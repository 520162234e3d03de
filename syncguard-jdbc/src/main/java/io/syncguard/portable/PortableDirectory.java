package io.syncguard.portable;

import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.portable.KeyRows.States;
import io.syncguard.rules.KeyRules;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
        List<LockStatus> found = new ArrayList<>();
        String last = query.after();
        List<String> keys;
        do {
            keys = rows.used(query, last, query.limit() + 1);
            if (!keys.isEmpty()) {
                States seen = look("listing locks", keys);
                keys.forEach(key -> seen.of(key).status(seen.now()).ifPresent(found::add));
                last = keys.get(keys.size() - 1);
            }
        } while (keys.size() > query.limit() && found.size() <= query.limit());
        return LockPage.of(found.stream().limit(query.limit() + 1L).toList(), query.limit());
    }

    @Override
    public Optional<LockStatus> status(String key) {
        States seen = look("looking up lock '" + key + "'", List.of(key));
        return seen.of(key).status(seen.now());
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        States seen = look("releasing lock '" + key + "' by force", List.of(key));
        if (seen.of(key).leases().isEmpty()) {
            return rules.forceRelease(seen.of(key), seen.now()).answer();
        }
        return steps.run(
                "releasing lock '" + key + "' by force",
                connections,
                connections.timeout(),
                List.of(key),
                KeySteps.Locking.WAITING,
                locked -> locked.done(rules.forceRelease(locked.of(key), locked.now())));
    }

    private States look(String doing, List<String> keys) {
        return steps.look(doing, connections, connections.timeout(), keys);
    }
}
