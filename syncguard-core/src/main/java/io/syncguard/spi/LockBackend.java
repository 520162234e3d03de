package io.syncguard.spi;

import io.syncguard.LockBackendException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that grants locks. It has four verbs, {@link #acquire}, {@link #release}, {@link #extend} and {@link #renew},
 * and a {@linkplain #directory directory} for operators. Thread-safe.
 *
 * <p>A verb takes a list of requests for one {@linkplain #serverOf server}, and answers in their order. It is one
 * attempt, in one round trip as a rule, and outside of any transaction of the caller. Each request is atomic on the
 * server. A store may answer on the calling thread, with a stage that is done. The answer comes within one network
 * timeout. A caller that cancels the stage no longer waits; the request may still be executed.
 *
 * <p>The server's clock judges expiry. A lease is live until {@value #TOLERANCE_MILLIS} ms after its end: a holder
 * stops at the end by its own clock, so it knows of the loss before anybody else is granted the key.
 *
 * <p>Requests for a lease or a queue entry carry its lock id and the key that was asked for with it. With a lock id
 * alone they have the same answers, and may take two round trips.
 *
 * <p>Contention is an answer, not an exception. Every failure is a {@link LockBackendException}, which is thrown or
 * completes the stage. With the codes {@code SERVICE_UNAVAILABLE}, {@code NETWORK_TIMEOUT}, {@code ABORTED} and
 * {@code INTERNAL} the outcome is in doubt, some of the requests may have been executed, and the engine releases what
 * may have been granted. With any other code, and with a {@link RequestNotSentException}, nothing was done.
 *
 * <p>Threads of the engine send renewals, heartbeats and releases that hand nothing over. These keep leases and queues
 * in order for all callers, so they use connections for which callers do not compete.
 */
public interface LockBackend extends AutoCloseable {

    /** How long after its end a lease still keeps the key from others, in milliseconds. */
    long TOLERANCE_MILLIS = 1000;

    /** How many waiters one release hands a key over to at most. */
    int MAX_HAND_OVERS = 64;

    /** Facts about the store. No I/O. */
    StoreInfo info();

    /**
     * The lock id for an acquisition of this key, made from a random one. A store may write into its first two
     * characters a hash of the key, or on which of several servers the key is: releases by lock ids alone that begin
     * alike are taken for those of one key. At least 112 bits stay random.
     * No I/O.
     *
     * @param random 22 characters of base64url, made for this acquisition alone
     * @return the same, unless the store writes into it
     */
    default String lockIdFor(String key, String random) {
        return random;
    }

    /**
     * The number of the server that has the lease or queue entry of this lock id, from 0; -1 if no server can have it.
     * The engine sends the requests for many lock ids to each server apart, so that no server waits for the answer of
     * another. No I/O.
     */
    default int serverOf(String lockId) {
        return 0;
    }

    /**
     * Grants each key, queues the request or refuses it, by the {@linkplain io.syncguard.rules rules of a key}. A
     * request with a {@link AcquireRequest#waiterNumber waiter} is {@link AcquireResult.Queued queued} unless it is
     * granted, and one without is {@link AcquireResult.Refused refused}. A refusal writes nothing where there was no
     * queue entry and the first look found the key taken.
     *
     * <p>A lapsed shared lease counts until it is deleted: its extension may be under way, and make it live again. So
     * lapsed leases are deleted only when the limit of a request is reached, and the others counted once more.
     *
     * <p>A list with {@link GrantExtent#EACH} never waits for a lock of the store: what it skips is
     * {@link AcquireResult.Undecided undecided}; all of it, if the store {@linkplain Batching takes no lists}. Requests
     * of one key are in the order of their arrival.
     *
     * <p>With the other extents, the requests are those of one caller for different keys, at most
     * {@value io.syncguard.LockLimits#MAX_KEYS}, without queue entries. They are decided in one step, in their order,
     * and nobody sees a part of it. The first one that cannot be granted is refused. Those that the extent does not
     * grant are undecided, and so are all behind a refused one. If such a list fails, no request may be known to be
     * granted.
     */
    CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent);

    /**
     * Ends the lease with each lock id, or deletes its queue entry, and never touches another one. Then the key is
     * handed over if the request {@linkplain ReleaseRequest#handsOver says so}, and waiters are woken.
     *
     * <p>If the key is handed to a waiter of this process, the answer may
     * {@linkplain ReleaseResult#handOvers carry the grant} instead of a message, never both: the engine delivers it. If
     * the answer is lost, the engine renews the waiters of the key at once. A list of several releases that hand over
     * never waits for a lock of the store: what it skips is undecided.
     *
     * <p>A release {@linkplain ReleaseRequest#heldFor after a time} is alone in its list. It ends the lease so that the
     * key is free this time after its grant, by the server's clock and without the tolerance; at once if that time is
     * over. The end may be later than the lease had it. Until then lookups show the grant under a lock id that nobody
     * has, so that nothing can release or extend it. A queue entry is left alone. An extension would not do: the
     * tolerance would follow it, and a job whose interval is little more than that time would miss runs.
     */
    CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests);

    /**
     * Sets the leases with these lock ids to end one ttl from now. A lapsed lease is not revived, and the fence stays
     * unless the {@linkplain ExtendRequest.Kind kind} says otherwise. If a lease ends earlier than before, its waiters
     * are woken.
     */
    CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests);

    /**
     * Renews queue entries for another {@link StoreInfo#waiterTtl}.
     *
     * @return how long until the next attempt is worthwhile if nothing wakes the waiter: until the first lease or queue
     *     entry in its way ends. If the first waiter can be granted the key now, those in front count as holders. Zero
     *     for a waiter who can be granted the key now, or whose entry is gone or may be becoming a lease. Any other
     *     answer confirms that the entry existed after the request was sent
     */
    CompletionStage<List<Duration>> renew(List<KeyedLockId> entries);

    /**
     * Connects the listener for wake-ups and hand-overs. Called once, before the first request.
     *
     * @return whether wake-ups arrive at this moment. If not, waiters poll
     */
    BooleanSupplier connect(WakeUpListener listener);

    /** Reads and forced releases, for operators. */
    LockDirectory directory();

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
     * Closes all connections, because the engine has stopped and may start again. From now on, the store does nothing
     * by itself; a request opens a connection again.
     */
    default void disconnect() {}

    /** Ends the rest after {@link #disconnect}: opens the connections again that always stay open, without waiting. */
    default void reconnect() {}

    /** Closes all connections. The engine's last call. */
    @Override
    void close();
}
