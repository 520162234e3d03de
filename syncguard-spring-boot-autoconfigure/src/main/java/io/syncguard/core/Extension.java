package io.syncguard.core;

import java.time.Duration;

/**
 * The wish to have a lease end one ttl from now.
 *
 * @param lockId whose
 * @param ttl from now, on the server's clock
 */
public record Extension(String lockId, Duration ttl) {

    /** Without the lock id. */
    @Override
    public String toString() {
        return "extension by " + ttl;
    }
}
