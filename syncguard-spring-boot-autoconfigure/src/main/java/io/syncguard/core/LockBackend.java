package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.RawLockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A store that grants locks. Each operation is one attempt, atomic on the server, in one round trip, never inside a
 * transaction of the caller, and may be called by many threads at once. It blocks no longer than a network timeout.
 *
 * <p>Expiry is judged by the server's clock: a lease is live until {@value #TOLERANCE_MILLIS} ms after its end, so that a
 * holder, who stops at the end by its own clock, knows that it lost the lock before anyone else can win it.
 *
 * <p>Contention is an answer. Every failure is a {@link LockBackendException}. Its outcome is unknown with the codes
 * {@code SERVICE_UNAVAILABLE}, {@code NETWORK_TIMEOUT}, {@code ABORTED} and {@code INTERNAL}, and the engine sees to it that
 * nothing stays behind; with every other code, and with a {@link RequestNotSentException}, nothing was done.
 *
 * <p>The operations that take a list are sent by threads of the engine, one thread per operation: they keep leases and queues in
 * order for all callers. They use connections for which callers do not compete.
 */
public interface LockBackend extends AutoCloseable {

    /** How long after its end a lease still keeps the key from others, in milliseconds. */
    long TOLERANCE_MILLIS = 1000;

    /** The name in meters, such as {@code postgres}. */
    String name();

    /**
     * Grants the key to the claimant if nothing live conflicts with it and nobody who conflicts waits in front. Grants
     * conflict unless both are shared.
     *
     * <p>Else a claimant who {@link Claim#waiter waits} is {@link Attempt.Queued queued}, in the order of arrival, or keeps
     * the place that it has. One who does not wait is refused, and a place that it has is given up. That writes nothing where
     * it had none and the key was taken at the first look.
     *
     * <p>A claimant whose place has become a grant is answered that grant, which lives for a whole ttl from now on.
     */
    Attempt acquire(Claim claim);

    /**
     * Ends the lease with this lock id and no other one, or gives up the place of who still waits under it. Wakes who can go on
     * because of that. Or hands the key over: grants it at once to the first in the queue, if that is a claimant who waits for
     * the key alone and {@link Claim#handOver} allows it. That first lease ends one {@link #placeTtl} from now.
     */
    ReleaseOutcome release(String lockId);

    /**
     * Ends the lease with this lock id so that the key is free when it was held for that time since its grant, by the server's
     * clock, and not a tolerance later; at once if it was. That may be later than the lease would have ended by itself. Until
     * then lookups show the grant as before, under a lock id that nobody has: it is released, and cannot be extended. Who is
     * first in the queue is woken, because the end is another one; nobody is handed the key. A place is left alone.
     */
    ReleaseOutcome releaseAfter(String lockId, Duration held);

    /**
     * Does what {@link #release} does for many lock ids in one round trip, each answered by itself and in the order of the
     * request. It wakes and never hands over.
     */
    List<ReleaseOutcome> releaseAll(List<String> lockIds);

    /**
     * Keeps places in queues for another {@link #placeTtl}, all in one round trip.
     *
     * @return in the order asked, how long until it is worth to claim again if nobody wakes the waiter: zero for one who can
     *     go on, for one whose place is lost, and for one whose place is perhaps becoming a grant; anything else confirms that
     *     the place was there after the request was sent
     */
    List<Duration> keepPlaces(List<String> lockIds);

    /** How long a place in the queue is kept for a waiter of whom nothing is heard. */
    Duration placeTtl();

    /**
     * Has the engine told whom to wake from now on. Called once and before the first claim.
     */
    void connect(WakeUps wakeUps);

    /** Whether wake-ups arrive at this moment. If not, waiters have to ask. */
    boolean isConnected();

    /**
     * Sets the leases with these lock ids to end one ttl from now. All in one round trip, each answered by itself and in the
     * order of the request. A lease that is over is not revived, and the fence stays. Who waits for one that ends earlier than
     * before is woken.
     */
    List<ExtendOutcome> extend(List<Extension> extensions);

    /** Does the same for one lease, at the request of its holder. */
    ExtendOutcome extend(Extension extension);

    /**
     * Does the same with one exclusive lease, at the request of its holder, which also takes the next fence of its key: {@link ExtendOutcome.Rotated}. It is
     * durable like a grant, and the grant stays the same one: lock id and start are as before, and nobody in the queue is
     * passed or woken by the new fence. To a shared lease it does nothing: {@link ExtendOutcome.NotFound}.
     *
     * @throws LockBackendException with {@code INTERNAL} when no fences are left; the lease is as it was then
     */
    ExtendOutcome rotate(Extension extension);

    /** Whether a grant of the key is live. Reads only. */
    boolean isLocked(String key);

    /** The live grants of the key, in the order of their fences. */
    List<RawLockInfo> lookup(String key);

    /** The live grant with this lock id. */
    Optional<RawLockInfo> lookupById(String lockId);

    /**
     * How long after its answer was given up an {@link #acquire} may still be granted by the server. The engine goes on
     * releasing it that long.
     */
    Duration settlingTime();

    /** Closes connections. The engine calls it last. */
    @Override
    void close();
}
