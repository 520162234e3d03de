package io.syncguard.test;

import io.syncguard.RawLockInfo;
import io.syncguard.memory.GrantListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The grants since the last reset, in their order, and which of them overlapped. Thread-safe. */
final class LockHistory implements GrantListener {

    /** Guarded by the monitor. */
    private final List<Grant> grants = new ArrayList<>();

    /** The grants that have not ended, by lock id. Guarded by the monitor. */
    private final Map<String, Grant> held = new HashMap<>();

    /** Counts grants and ends, so that their order is known. Guarded by the monitor. */
    private long events;

    @Override
    public synchronized void granted(RawLockInfo lease) {
        Grant grant = new Grant(lease, ++events);
        grants.add(grant);
        held.put(lease.lockId(), grant);
    }

    @Override
    public synchronized void ended(RawLockInfo lease) {
        Grant grant = held.remove(lease.lockId());
        if (grant != null) {
            grant.end = ++events;
        }
    }

    /** Forgets the grants that have ended. */
    synchronized void clear() {
        grants.removeIf(grant -> grant.end != null);
    }

    /** The grants of the key. */
    synchronized List<RawLockInfo> of(String key) {
        return grants.stream()
                .map(grant -> grant.lease)
                .filter(lease -> lease.key().equals(key))
                .toList();
    }

    /** Finds a grant of each key that overlap, and returns the later one. */
    synchronized Optional<RawLockInfo> together(String one, String other) {
        List<Grant> ofOne = grantsOf(one);
        List<Grant> ofOther = grantsOf(other);
        return ofOne.stream()
                .flatMap(grant -> ofOther.stream().filter(grant::overlaps).map(grant::later))
                .map(grant -> grant.lease)
                .findFirst();
    }

    private List<Grant> grantsOf(String key) {
        return grants.stream().filter(grant -> grant.lease.key().equals(key)).toList();
    }

    private static final class Grant {

        private final RawLockInfo lease;
        private final long begin;

        /** {@code null} while the grant has not ended. */
        private @Nullable Long end;

        Grant(RawLockInfo lease, long begin) {
            this.lease = lease;
            this.begin = begin;
        }

        boolean overlaps(Grant other) {
            return other != this && (end == null || other.begin < end) && (other.end == null || begin < other.end);
        }

        Grant later(Grant other) {
            return begin > other.begin ? this : other;
        }
    }
}
