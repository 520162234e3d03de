package io.syncguard.spi;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of its locks, and the forced release, for operators. Each call blocks for one network timeout at
 * most and throws {@link io.syncguard.LockBackendException}.
 */
public interface LockDirectory {

    /** Whether the key has a live lease. Reads only. */
    boolean isLocked(String key);

    /** The live leases of the key, in the order of their fences. */
    List<RawLockInfo> lookup(String key);

    /** The live lease with this lock id. */
    Optional<RawLockInfo> lookupById(KeyedLockId id);

    /**
     * A page of the keys that have live leases or live queue entries. Its time is bounded by the number of keys in the
     * store, its memory by the page. It never reads a counter of a key that is free. It may take several round trips,
     * and what changes meanwhile may be missing.
     *
     * @see LockSelection
     */
    LockPage list(LockQuery query);

    /** Counts the live leases and the live queue entries of all keys. Bounded like a list. */
    LockSummary summary();

    /** The live leases and the live queue entries of one key; empty if it has none. Reads only. */
    Optional<LockStatus> status(String key);

    /**
     * Ends all leases of the key, whoever has them, and takes the next fence of the key, which is larger than theirs.
     * Then it wakes all who can be granted the key now. Nothing is handed over. It is durable like a grant. A lease
     * whose row is locked remains, and the engine tries again. Without a live lease that is asked for, it takes no
     * fence and wakes nobody.
     *
     * @param only the fence of the only lease to end; {@code null} for all
     */
    ForcedRelease forceRelease(String key, @Nullable Fence only);
}
