package io.syncguard.spi;

import io.syncguard.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * A lock id, and the key that was asked for with it. A store needs no look-up of the key then.
 *
 * @param key the normalised key; {@code null} where only the lock id is known. Never another key: the answer for the
 *     lease would be that nobody knows it
 * @param lockId the secret of a lease or a queue entry
 */
public record KeyedLockId(@Nullable String key, String lockId) {

    /** A lock id whose key is not known, as that of another process. */
    public KeyedLockId(String lockId) {
        this(null, lockId);
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return key == null ? "a lock id alone" : OneLine.of("the lock id for '" + key + "'");
    }
}
