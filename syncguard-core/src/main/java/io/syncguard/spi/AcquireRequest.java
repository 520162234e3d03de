package io.syncguard.spi;

import io.syncguard.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a key, as it is sent to the store.
 *
 * @param key the normalised key
 * @param lockId the secret of the lease, made for this acquisition alone by {@link LockBackend#lockIdFor}
 * @param options what the caller asks for
 * @param queued whether an earlier attempt made a queue entry, which may be a lease by now
 * @param waiterNumber the number that wake-ups carry, new for each attempt of a waiter; {@code null} for a caller who
 *     does not wait, or no longer waits
 */
public record AcquireRequest(
        String key,
        String lockId,
        AcquireOptions options,
        boolean queued,
        @Nullable Long waiterNumber) {

    /** An attempt without a queue entry, of a caller who does not wait. */
    public AcquireRequest(String key, String lockId, AcquireOptions options) {
        this(key, lockId, options, false, null);
    }

    /** The same attempt, by a caller who waits if the key is refused. */
    public AcquireRequest waitingAs(long waiterNumber) {
        return new AcquireRequest(key, lockId, options, queued, waiterNumber);
    }

    /** The same attempt, by a caller who has a queue entry. */
    public AcquireRequest fromQueue() {
        return new AcquireRequest(key, lockId, options, true, waiterNumber);
    }

    /** The lock id with its key, for the requests that follow. */
    public KeyedLockId keyedLockId() {
        return new KeyedLockId(key, lockId);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return OneLine.of("request for '" + key + "', " + options);
    }
}
