package io.syncguard;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Shows operators the locks of one store, and ends those that hang. Each application has one as a bean;
 * {@link LockManager#admin} returns that of any manager. Thread-safe.
 *
 * <p>An answer may be outdated when it arrives: never use it as a guard. Every method but {@link #backend} asks the
 * server, and throws {@link LockBackendException} when that fails, and {@link LockException} with
 * {@link LockErrorCode#INVALID_ARGUMENT} for a key, a lock id or an owner outside {@link LockLimits}.
 */
public interface LockAdmin {

    /** What the store of the locks is. No I/O. */
    BackendInfo backend();

    /** The live lease of the key, any of them if it is shared; empty if nobody holds the key. */
    default Optional<LockInfo> lookup(String key) {
        return holders(key).stream().findFirst();
    }

    /** All live leases of the key; empty if nobody holds it. */
    List<LockInfo> holders(String key);

    /** The live lease with this lock id; empty if there is none. */
    Optional<LockInfo> lookupById(String lockId);

    /**
     * All live leases of the key with their lock ids, for debugging by hand. Do not log them.
     *
     * @see #holders
     */
    List<RawLockInfo> debugLookup(String key);

    /**
     * The live lease with this lock id and its key, for debugging by hand; empty if there is none.
     *
     * @see #lookupById
     */
    Optional<RawLockInfo> debugLookupById(String lockId);

    /**
     * A page of all keys that are locked or waited for, by any process, with their holders and queues. The time it
     * takes grows with the number of locks; on Redis with the number of all keys of the server: it takes about twenty
     * seconds for each million, because it leaves the server time for locks. In another order than that of the keys,
     * Redis also reads each lock that the conditions on keys leave.
     */
    LockPage list(LockQuery query);

    /**
     * Counts all locks of the store, and finds those that are waited for longest. It takes as long as a list in another
     * order than that of the keys: on Redis it reads each lock.
     */
    LockSummary summary();

    /** The holders of the key and its queue; empty if it has neither. */
    Optional<LockStatus> status(String key);

    /**
     * Ends all leases of the key, whoever holds it, so that its waiters are served. A holder detects the loss at
     * its next heartbeat, or without one at its deadline: until then two may work. Meant for a holder that hangs.
     *
     * <p>A lease under which a transaction commits for more than half a second remains, see
     * {@link ForcedRelease#remaining}. A lease that is granted within that time ends, too. The next fence of the key is
     * drawn, so that every later one is larger, too.
     *
     * <p>Ends also a lease that was granted after the caller looked. A person who has seen a holder names its grant:
     * {@link #forceRelease(String, Fence, String)}.
     *
     * @param reason who and why: for the log, and for {@link LockListener#forceReleased}
     */
    ForcedRelease forceRelease(String key, String reason);

    /**
     * Ends the lease of the key with this fence, and no other. If it is over, nothing changes, and
     * {@link ForcedRelease#remaining} has those who hold the key now. Otherwise like
     * {@link #forceRelease(String, String)}.
     *
     * @param fence that of the grant, from {@link LockInfo#fence} or {@link LockHandle#fence}
     */
    ForcedRelease forceRelease(String key, Fence fence, String reason);

    /**
     * What {@link #forceReleaseAll} would end: the leases whose owner has this text in its label, in the order of their
     * keys. {@value LockQuery#MAX_LIMIT} at most.
     *
     * @param owner is compared with its case, and no character is a wildcard. Not empty
     */
    default List<OwnedLease> leasesOf(String owner) {
        LockQuery query = LockQuery.all().owner(LockLimits.partOfOwner(owner)).limit(LockQuery.MAX_LIMIT);
        List<OwnedLease> found = new ArrayList<>();
        String next = "";
        while (next != null && found.size() < LockQuery.MAX_LIMIT) {
            LockPage page = list(query.after(next));
            page.locks()
                    .forEach(lock -> lock.holders().stream()
                            .filter(lease -> lease.owner().contains(query.owner()))
                            .forEach(lease -> found.add(new OwnedLease(lock.key(), lease))));
            next = page.next();
        }
        return found.stream().limit(LockQuery.MAX_LIMIT).toList();
    }

    /**
     * Ends the leases of an owner that is gone, such as all those of a host: {@link #leasesOf} lists them. Each ends by
     * its fence, so the next holder of a key keeps it. Ends with the first failure; call it again then, and as long as
     * it finds {@value LockQuery#MAX_LIMIT}.
     *
     * @return one for each lease that was listed
     */
    default List<ForcedRelease> forceReleaseAll(String owner, String reason) {
        return leasesOf(owner).stream()
                .map(each -> forceRelease(each.key(), each.lease().fence(), reason))
                .toList();
    }

    /** Like {@link #forceRelease(String, Fence, String)} without a reason. */
    default ForcedRelease forceRelease(String key, Fence fence) {
        return forceRelease(key, fence, "no reason was given");
    }

    /** Like {@link #forceRelease(String, String)} without a reason. */
    default ForcedRelease forceRelease(String key) {
        return forceRelease(key, "no reason was given");
    }
}
