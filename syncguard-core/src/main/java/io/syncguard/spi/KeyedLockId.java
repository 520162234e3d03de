package io.syncguard.spi;

import io.syncguard.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * A lock id, and the key that was requested with it, which saves the store a look-up.
 *
 * @param key the normalised key; {@code null} where only the lock id is known. Never another key: the
 *     store would not find the lease
 * @param lockId the secret of a lease or a queue entry
 */
public record KeyedLockId(@Nullable String key, String lockId) {

    /** A lock id whose key is not known, as that of another process. */
    public KeyedLockId(String lockId) {
        this(null, lockId);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return key == null ? "a lock id alone" : OneLine.of("the lock id for '" + key + "'");
    }
}
