package io.syncguard.memory;

import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The leases of one key, live and lapsed. The lock of the store guards it. */
final class KeyLeases {

    private final List<StoredLease> leases = new ArrayList<>();

    void add(StoredLease lease) {
        leases.add(lease);
    }

    void remove(StoredLease lease) {
        leases.remove(lease);
    }

    boolean isEmpty() {
        return leases.isEmpty();
    }

    List<StoredLease> all() {
        return List.copyOf(leases);
    }

    List<StoredLease> live(long now) {
        return leases.stream().filter(lease -> lease.isLive(now)).toList();
    }

    /** The lease with this lock id, live or lapsed. */
    @Nullable
    StoredLease find(String lockId) {
        return leases.stream().filter(lease -> lease.has(lockId)).findFirst().orElse(null);
    }

    /**
     * The live leases that block the request, in the order of their ends.
     *
     * @param beside how many others will be granted the key before
     */
    List<StoredLease> conflicting(AcquireRequest request, long now, int beside) {
        List<StoredLease> byEnd = live(now).stream()
                .sorted(Comparator.comparing(StoredLease::expiresAt))
                .toList();
        boolean isFull = request.permits() > 0 && byEnd.size() + beside >= request.permits();
        return byEnd.stream()
                .filter(lease -> isFull || isExclusive(lease.request()) || isExclusive(request))
                .toList();
    }

    private static boolean isExclusive(AcquireRequest request) {
        return request.mode() == LockMode.EXCLUSIVE;
    }

    /** What lookups show, in the order of the fences. */
    List<RawLockInfo> lookup(long now) {
        return live(now).stream()
                .map(StoredLease::info)
                .sorted(Comparator.comparing(RawLockInfo::fence))
                .toList();
    }

    Optional<RawLockInfo> lookupById(String lockId, long now) {
        return live(now).stream()
                .filter(lease -> lease.has(lockId))
                .map(StoredLease::info)
                .findFirst();
    }
}
