package io.syncguard.spi;

import io.syncguard.LockMode;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a key, as it is sent to the store.
 *
 * @param key the normalised key
 * @param mode whether the lease may exist beside shared ones
 * @param permits how many shared leases the key may have with this one, from 1 to 10 000; 0 for no limit, as in every
 *     exclusive request
 * @param lockId the secret of the lease, made for this acquisition alone by {@link LockBackend#lockIdFor}
 * @param ttl how long the lease lives without an extension
 * @param owner the label of the caller, for people
 * @param handOver whether a release may grant the key to the queue entry directly
 * @param queued whether an earlier attempt made a queue entry, which may be a lease by now
 * @param waiterNumber the number that wake-ups carry, new for each attempt of a waiter; {@code null} for a caller who
 *     does not wait, or no longer waits
 */
public record AcquireRequest(
        String key,
        LockMode mode,
        int permits,
        String lockId,
        Duration ttl,
        String owner,
        boolean handOver,
        boolean queued,
        @Nullable Long waiterNumber) {

    /** The same, by a caller who waits if the key is refused. */
    public AcquireRequest waitingAs(long waiterNumber) {
        return new AcquireRequest(key, mode, permits, lockId, ttl, owner, handOver, queued, waiterNumber);
    }

    /** The same, by a caller who has a queue entry. */
    public AcquireRequest fromQueue() {
        return new AcquireRequest(key, mode, permits, lockId, ttl, owner, handOver, true, waiterNumber);
    }

    /** The lock id with its key, for the requests that follow. */
    public KeyedLockId keyedLockId() {
        return new KeyedLockId(key, lockId);
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return OneLine.of("request for '" + key + "', " + mode + (permits == 0 ? "" : " with " + permits + " permits")
                + ", ttl " + MessageText.of(ttl) + ", owner " + owner);
    }
}
