package io.syncguard.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a lease to end one ttl from now.
 *
 * @param key the normalised key of the lease; {@code null} where only the lock id is known
 * @param lockId the lock id of the lease
 * @param ttl from now, on the server's clock
 */
public record ExtendRequest(@Nullable String key, String lockId, Duration ttl) {

    /** By the lock id alone. */
    public ExtendRequest(String lockId, Duration ttl) {
        this(null, lockId, ttl);
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return "extension by " + ttl;
    }
}
