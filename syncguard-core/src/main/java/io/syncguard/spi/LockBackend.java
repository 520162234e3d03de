package io.syncguard.spi;

import io.syncguard.BackendInfo;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A store that grants locks. Each operation is one attempt, atomic on the server, in one round trip as a rule, and
 * outside of any transaction of the caller. Thread-safe. A call blocks for one network timeout at most.
 *
 * <p>The server's clock judges expiry. A lease is live until {@value #TOLERANCE_MILLIS} ms after its end: a holder
 * stops at the end by its own clock, so it knows of the loss before anybody else is granted the key.
 *
 * <p>Requests for a lease or a queue entry carry its lock id and the key that was asked for with it. With a lock id
 * alone they have the same answers, and may take two round trips.
 *
 * <p>Contention is a return value, not an exception. Every failure is a {@link LockBackendException}. With the codes
 * {@code SERVICE_UNAVAILABLE}, {@code NETWORK_TIMEOUT}, {@code ABORTED} and {@code INTERNAL} the outcome is in doubt,
 * and the engine releases what may have been granted. With any other code, and with a {@link RequestNotSentException},
 * nothing was done.
 *
 * <p>Threads of the engine send the operations that take a list, one thread for each operation. These operations keep
 * leases and queues in order for all callers, so they use connections for which callers do not compete. Only
 * {@link #acquireTogether} and {@link #releaseTogether} are sent by callers.
 */
public interface LockBackend extends AutoCloseable {

    /** How long after its end a lease still keeps the key from others, in milliseconds. */
    long TOLERANCE_MILLIS = 1000;

    /** How many waiters one release hands a key over to at most. */
    int MAX_HAND_OVERS = 64;

    /** The name in meters, such as {@code postgres}. */
    String name();

    /** What the store is, for applications. One that breaks a rule of this contract says so here. No I/O. */
    default BackendInfo info() {
        return new BackendInfo(name(), true, BackendInfo.Clock.SERVER);
    }

    /**
     * The lock id for an acquisition of this key, made from a random one. A store may write into it a hash of the key,
     * or on which of several servers the key is, so that the lock id alone leads there. At least 112 bits stay random.
     * No I/O.
     *
     * @param random 22 characters of base64url, made for this acquisition alone
     * @return the same, unless the store writes into it
     */
    default String lockIdFor(String key, String random) {
        return random;
    }

    /**
     * Grants the key if no live lease conflicts with the request, and no conflicting waiter is in front of it. Two
     * requests conflict unless both are shared.
     *
     * <p>A request with {@link AcquireRequest#permits} is granted if, besides, the key has fewer shared leases than it
     * says, and no waiter at all is in front of it; and no shared request passes a waiter with permits. Each request is
     * judged by its own number. Lapsed leases count until they are deleted: one whose extension is under way may be
     * live again. So they are deleted only when the number is reached, and the others counted once more.
     *
     * <p>A waiter that is granted the key, here or by a hand-over, wakes those behind it that can be granted it now, or
     * by lapses within a third of a {@link #waiterTtl}: they may not know of these leases. Every waiter is renewed in
     * that time.
     *
     * <p>Otherwise a request with a {@link AcquireRequest#waiterNumber waiter} is {@link AcquireResult.Queued queued}:
     * it gets a queue entry behind all others, or its own entry is renewed. A request without a waiter is refused, and
     * its queue entry is deleted if it has one. Such a refusal writes nothing where there was no entry and the first
     * look found the key taken.
     *
     * <p>A hand-over may have granted the key to the queue entry meanwhile. The answer is that grant then, with a whole
     * ttl from now on.
     */
    AcquireResult acquire(AcquireRequest request);

    /** Keys for {@link StoreProbe}: this one, or others that begin with it, so that each server has one. No I/O. */
    default List<String> probeKeys(String key) {
        return List.of(key);
    }

    /**
     * Tries to acquire keys of one caller, in one step: nobody sees a part of it. Requests are decided in their order,
     * each as by {@link #acquire}. No key behind a refused one is granted. If it throws, no request may be known to be
     * granted.
     *
     * @param requests without queue entries, for different keys of one {@link #serverOf server}; at most
     *     {@value io.syncguard.LockLimits#MAX_KEYS}
     * @param extent which of the keys are granted if one of them is refused
     */
    JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent);

    /**
     * Ends the lease with this lock id, or deletes its queue entry, and never touches another one. Then the key is
     * handed over: granted at once to the first waiter, if that one wants it exclusively or with permits and
     * {@link AcquireRequest#handOver} allows it. Waiters with permits behind one with permits are granted the key in
     * the same step as far as there is room, {@value #MAX_HAND_OVERS} at most. The lease of a hand-over ends one
     * {@link #waiterTtl} from now. All others who can be granted the key now are woken.
     *
     * <p>If such a waiter is one of this process, the answer may {@linkplain ReleaseResult#handOvers carry the grant}
     * instead of a message, never both: the engine delivers it. If the answer is lost, the engine renews the waiters of
     * the key at once.
     */
    ReleaseResult release(KeyedLockId id);

    /** Does the same by the lock id alone. */
    default ReleaseResult release(String lockId) {
        return release(new KeyedLockId(lockId));
    }

    /**
     * Does what {@link #release} does for the leases of one caller, in one round trip as far as nobody waits for their
     * keys. After an error some of them may have been done. A waiter learns of a hand-over in the answer only when all
     * are released.
     *
     * @return in the order of the lock ids, each with the hand-over of its key if it carries that
     */
    default List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        return ids.stream().map(this::release).toList();
    }

    /**
     * Ends the lease so that the key is free this time after its grant, by the server's clock and without the
     * tolerance; at once if that time is over. The end may be later than the lease had it. Until then lookups show the
     * grant under a lock id that nobody has, so that nothing can release or extend it. The first waiter is woken
     * because the end has changed. Nothing is handed over, and a queue entry is left alone. An extension would not do:
     * the tolerance would follow it, and a job whose interval is little more than that time would miss runs.
     */
    ReleaseResult releaseAfter(KeyedLockId id, Duration held);

    /** Does the same by the lock id alone. */
    default ReleaseResult releaseAfter(String lockId, Duration held) {
        return releaseAfter(new KeyedLockId(lockId), held);
    }

    /**
     * Does what {@link #release} does for many lock ids in one round trip. The answers come in the order of the
     * request. It wakes and never hands over. After an error some of them may have been done.
     */
    List<ReleaseResult> releaseAll(List<KeyedLockId> ids);

    /**
     * Renews queue entries for another {@link #waiterTtl}, all in one round trip.
     *
     * @return in the order of the request, how long until the next attempt is worthwhile if nothing wakes the waiter:
     *     until the first lease or queue entry in its way ends. If the first waiter can be granted the key now, those
     *     in front count as holders. Zero for a waiter who can be granted the key now, whose entry is gone or may be
     *     becoming a lease, or whose server failed while others answered. Any other answer confirms that the entry
     *     existed after the request was sent
     */
    List<Duration> renewWaiters(List<KeyedLockId> ids);

    /** How long a queue entry lives unless it is renewed. */
    Duration waiterTtl();

    /** Connects the listener for wake-ups and hand-overs. Called once, before the first request. */
    void connect(WakeUpListener listener);

    /** Whether wake-ups arrive at this moment. If not, waiters poll. */
    boolean isConnected();

    /**
     * Sets the leases with these lock ids to end one ttl from now, all in one round trip. The answers come in the order
     * of the request. A lapsed lease is not revived, and the fence stays. If a lease ends earlier than before, its
     * waiters are woken. If only some of several servers fail, their leases have the answer
     * {@link ExtendResult.Failed}.
     */
    List<ExtendResult> extend(List<ExtendRequest> requests);

    /**
     * The number of the server that has the lease or queue entry of this lock id. The engine sends the requests for
     * many lock ids to each server apart, so that no server waits for the answer of another. No I/O.
     */
    default int serverOf(String lockId) {
        return 0;
    }

    /**
     * Does what {@link #extend(List)} does for leases of one {@link #serverOf server}. A store on several servers does
     * not wait for the answer, which comes within one network timeout.
     */
    default CompletionStage<List<ExtendResult>> extendLater(List<ExtendRequest> requests) {
        return CompletableFuture.completedFuture(extend(requests));
    }

    /** Does the same for {@link #releaseAll}. */
    default CompletionStage<List<ReleaseResult>> releaseAllLater(List<KeyedLockId> ids) {
        return CompletableFuture.completedFuture(releaseAll(ids));
    }

    /** Does the same for {@link #releaseAfter}. */
    default CompletionStage<ReleaseResult> releaseAfterLater(KeyedLockId id, Duration held) {
        return CompletableFuture.completedFuture(releaseAfter(id, held));
    }

    /** Does the same for {@link #renewWaiters}. */
    default CompletionStage<List<Duration>> renewWaitersLater(List<KeyedLockId> ids) {
        return CompletableFuture.completedFuture(renewWaiters(ids));
    }

    /** Does the same for one lease, at the request of its holder. */
    ExtendResult extend(ExtendRequest request);

    /**
     * Extends one exclusive lease at the request of its holder, and takes the next fence of its key for it: the answer
     * is {@link ExtendResult.Rotated}. The change is durable like a grant. Lock id and time of the grant stay, and no
     * waiter is passed. If the lease ends earlier than before, its waiters are woken. A shared lease is
     * {@link ExtendResult.NotFound}, and nothing happens to it.
     *
     * @throws LockBackendException with {@code INTERNAL} when no fences are left; the lease is unchanged then
     */
    ExtendResult rotate(ExtendRequest request);

    /** Whether the key has a live lease. Reads only. */
    boolean isLocked(String key);

    /** The live leases of the key, in the order of their fences. */
    List<RawLockInfo> lookup(String key);

    /** The live lease with this lock id. */
    Optional<RawLockInfo> lookupById(KeyedLockId id);

    /** Does the same by the lock id alone. */
    default Optional<RawLockInfo> lookupById(String lockId) {
        return lookupById(new KeyedLockId(lockId));
    }

    /**
     * A page of the keys that have live leases or live queue entries, in the order of their bytes in UTF-8. Its time is
     * bounded by the number of keys in the store, and it never reads a counter of a key that is free. It may take
     * several round trips, and what changes meanwhile may be missing.
     */
    LockPage list(LockQuery query);

    /** The live leases and the live queue entries of one key; empty if it has none. Reads only. */
    Optional<LockStatus> status(String key);

    /** The sessions whose transactions lock rows of the key; empty for a store without transactions. Reads only. */
    default List<BlockingSession> blockingSessions(String key) {
        return List.of();
    }

    /**
     * Pins leases in transactions of the application; {@code null} for a store in which no such transaction can take
     * place. No I/O.
     */
    default @Nullable LeasePins pins() {
        return null;
    }

    /** The connections for the requests of callers; {@code null} for a store without a pool. No I/O. */
    default @Nullable PoolStatus pool() {
        return null;
    }

    /**
     * Ends all leases of the key, whoever has them, and takes the next fence of the key, which is larger than theirs.
     * Then it wakes all who can be granted the key now. Nothing is handed over. It is durable like a grant. A lease
     * whose row is locked remains, and the engine tries again. Without a lease nothing is written.
     */
    ForcedRelease forceRelease(String key);

    /**
     * The in-doubt period of an {@link #acquire} without an answer: how long a server that answers may still grant it.
     * The engine repeats its release until the server answers a release that was sent after this period, or until the
     * ttl of such a lease is over. An error begins the period again.
     */
    Duration inDoubtPeriod();

    /**
     * Closes all connections, because the engine has stopped and may start again. From now on, the store does nothing by
     * itself; a request opens a connection again.
     */
    default void disconnect() {}

    /** Ends the rest after {@link #disconnect}: opens the connections again that always stay open, without waiting. */
    default void reconnect() {}

    /** Closes all connections. The engine's last call. */
    @Override
    void close();
}
