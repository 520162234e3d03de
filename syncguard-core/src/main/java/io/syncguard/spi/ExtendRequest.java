package io.syncguard.spi;

import java.time.Duration;

/**
 * Asks for a lease to end one ttl from now.
 *
 * @param lockId the lock id of the lease
 * @param ttl from now, on the server's clock
 */
public record ExtendRequest(String lockId, Duration ttl) {

    /** Without the lock id. */
    @Override
    public String toString() {
        return "extension by " + ttl;
    }
}
