package io.syncguard.core;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Makes requests of callers. */
public final class Requests {

    private Requests() {}

    public static String newLockId() {
        return new LockIds().next();
    }

    public static AcquireRequest exclusive(String key, String lockId, Duration ttl, String owner) {
        return of(key, LockMode.EXCLUSIVE, 0, lockId, ttl, owner, false, false, null);
    }

    public static AcquireRequest shared(String key, String lockId, Duration ttl, String owner) {
        return of(key, LockMode.SHARED, 0, lockId, ttl, owner, false, false, null);
    }

    public static AcquireRequest of(
            String key,
            LockMode mode,
            int permits,
            String lockId,
            Duration ttl,
            String owner,
            boolean handOver,
            boolean queued,
            @Nullable Long waiterNumber) {
        return new AcquireRequest(
                key, lockId, new AcquireOptions(mode, permits, ttl, owner, handOver), queued, waiterNumber);
    }

    /** The extension of a heartbeat. */
    public static ExtendRequest extension(@Nullable String key, String lockId, Duration ttl) {
        return new ExtendRequest(new KeyedLockId(key, lockId), ttl, ExtendRequest.Kind.HEARTBEAT);
    }

    public static ExtendRequest extension(String lockId, Duration ttl) {
        return extension(null, lockId, ttl);
    }
}
