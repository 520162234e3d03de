package io.syncguard.rules;

import io.syncguard.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The leases of a key, live and lapsed, while a rule works on them. */
final class KeyLeases {

    private final List<StoredLease> leases;

    KeyLeases(List<StoredLease> leases) {
        this.leases = new ArrayList<>(leases);
    }

    List<StoredLease> all() {
        return leases;
    }

    void add(StoredLease lease) {
        leases.add(lease);
    }

    StoredLease replace(StoredLease old, StoredLease other) {
        leases.set(leases.indexOf(old), other);
        return other;
    }

    void remove(StoredLease lease) {
        leases.remove(lease);
    }

    void removeLapsed(long now) {
        leases.removeIf(lease -> !lease.isLive(now));
    }

    /** The lease with this lock id, live or lapsed. */
    @Nullable
    StoredLease find(String lockId) {
        return leases.stream()
                .filter(lease -> lease.lockId().equals(lockId))
                .findFirst()
                .orElse(null);
    }

    /**
     * The live leases that block a request of this kind, in the order of their ends.
     *
     * @param beside how many others will be granted the key before
     */
    List<StoredLease> conflicting(LeaseKind kind, long now, int beside) {
        List<StoredLease> byEnd = leases.stream()
                .filter(lease -> lease.isLive(now))
                .sorted(Comparator.comparing(StoredLease::expiresAt))
                .toList();
        boolean isFull = kind.isFull(byEnd.size() + beside);
        return byEnd.stream()
                .filter(lease -> isFull || kind.isExclusive() || lease.mode() == LockMode.EXCLUSIVE)
                .toList();
    }
}
