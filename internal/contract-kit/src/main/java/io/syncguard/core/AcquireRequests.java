package io.syncguard.core;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;

/** Requests of callers who do not wait. */
public final class AcquireRequests {

    private AcquireRequests() {}

    public static AcquireRequest exclusive(String key, String lockId, Duration ttl, String owner) {
        return new AcquireRequest(key, LockMode.EXCLUSIVE, 0, lockId, ttl, owner, false, false, null);
    }

    public static AcquireRequest shared(String key, String lockId, Duration ttl, String owner) {
        return new AcquireRequest(key, LockMode.SHARED, 0, lockId, ttl, owner, false, false, null);
    }
}
