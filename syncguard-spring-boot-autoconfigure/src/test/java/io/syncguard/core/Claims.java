package io.syncguard.core;

import io.syncguard.LockMode;
import java.time.Duration;

/** Claims of callers who do not wait. */
public final class Claims {

    private Claims() {}

    public static Claim exclusive(String key, String lockId, Duration ttl, String owner) {
        return new Claim(key, LockMode.EXCLUSIVE, lockId, ttl, owner, false, false, null);
    }

    public static Claim shared(String key, String lockId, Duration ttl, String owner) {
        return new Claim(key, LockMode.SHARED, lockId, ttl, owner, false, false, null);
    }
}
