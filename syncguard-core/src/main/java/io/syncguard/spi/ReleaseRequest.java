package io.syncguard.spi;

import io.syncguard.MessageText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the end of a lease or a queue entry.
 *
 * @param id of the lease or the queue entry
 * @param handsOver whether the key is granted to the first waiters in the same step: for a request of the holder.
 *     Otherwise they are woken, and a thread of the engine sends the request
 * @param heldFor how long after its grant the key becomes free, by the server's clock; {@code null} for at once
 * @param waits whether the store may wait for a locked row; otherwise it leaves the request undecided. In a list of
 *     several that hand over, it never waits
 * @param entering requests of callers who are about to wait for the key, in the order of their arrival. The store may
 *     give all of them queue entries before a release that hands over, or none
 */
public record ReleaseRequest(
        KeyedLockId id, boolean handsOver, @Nullable Duration heldFor, boolean waits, List<AcquireRequest> entering) {

    /** A release by the holder, which grants the key to the first waiters at once. */
    public static ReleaseRequest handingOver(KeyedLockId id) {
        return new ReleaseRequest(id, true, null, true, List.of());
    }

    /** A release by the engine, which wakes the first waiters and grants nothing. */
    public static ReleaseRequest waking(KeyedLockId id) {
        return new ReleaseRequest(id, false, null, true, List.of());
    }

    /** A release that keeps the key taken until it was held for this time. */
    public static ReleaseRequest heldFor(KeyedLockId id, Duration held) {
        return new ReleaseRequest(id, false, held, true, List.of());
    }

    /** The same release, after these requests have entered the queue. */
    public ReleaseRequest after(List<AcquireRequest> entering) {
        return new ReleaseRequest(id, handsOver, heldFor, waits, entering);
    }

    /** The same release, which does not wait for a locked row. */
    public ReleaseRequest withoutWaiting() {
        return new ReleaseRequest(id, handsOver, heldFor, false, entering);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return "release of " + id + (heldFor == null ? "" : " " + MessageText.of(heldFor) + " after its grant");
    }
}
