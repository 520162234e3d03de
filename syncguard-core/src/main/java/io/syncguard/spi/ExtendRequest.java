package io.syncguard.spi;

import java.time.Duration;

/**
 * Asks for a lease to end one ttl from now.
 *
 * @param id of the lease
 * @param ttl from now, on the server's clock
 * @param kind who asks, and for what
 */
public record ExtendRequest(KeyedLockId id, Duration ttl, Kind kind) {

    /** What the engine asks for, and for whom. A list has requests of one kind. */
    public enum Kind {
        /** A thread of the engine, for many leases. It must not wait for callers. */
        HEARTBEAT,
        /** The holder, for one lease. */
        HOLDER,
        /**
         * The holder, for one exclusive lease that also gets the next fence of its key. The answer is
         * {@link ExtendResult.Rotated}. The change is durable like a grant. Lock id and time of the grant stay, and no
         * waiter is passed. A shared lease is {@link ExtendResult.NotFound}, and nothing happens to it. When no fences
         * are left, the request fails with {@code INTERNAL}, and the lease is unchanged.
         */
        NEXT_FENCE
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return "extension by " + ttl;
    }
}
