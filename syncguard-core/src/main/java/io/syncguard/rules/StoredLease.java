package io.syncguard.rules;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The row of a lease, live or lapsed. Times are milliseconds of the store's clock.
 *
 * @param lockId the secret of its holder, by which a key has one row at most
 * @param acquiredAt the time of the grant, or the time at which a waiter found the lease of a hand-over
 * @param expiresAt the end for its holder; the key is free of the lease one tolerance later
 */
public record StoredLease(String lockId, LockMode mode, String owner, Fence fence, long acquiredAt, long expiresAt) {

    /** Begins the lock id of a lease without a holder. No process has such a lock id. */
    private static final String RELEASED = "released:";

    /** From when on the lease is in nobody's way. */
    public long freeAt() {
        return expiresAt + LockBackend.TOLERANCE_MILLIS;
    }

    /** Whether it still keeps the key from others. */
    public boolean isLive(long now) {
        return freeAt() > now;
    }

    /** Whether somebody can extend and release it. Without a holder it only keeps the key until its end. */
    public boolean hasHolder() {
        return !lockId.startsWith(RELEASED);
    }

    /** Whether it has this fence; {@code null} stands for any. */
    public boolean hasFence(@Nullable Fence only) {
        return only == null || fence.equals(only);
    }

    /** The same lease with another end. */
    public StoredLease until(long end) {
        return new StoredLease(lockId, mode, owner, fence, acquiredAt, end);
    }

    /** The same lease, without its holder. It keeps the key for this time after the grant, without a tolerance. */
    public StoredLease withoutHolder(Duration held) {
        long end = acquiredAt + held.toMillis() - LockBackend.TOLERANCE_MILLIS;
        return new StoredLease(RELEASED + lockId, mode, owner, fence, acquiredAt, end);
    }

    /** What lookups show. */
    public RawLockInfo info(String key) {
        return new RawLockInfo(
                key, lockId, mode, Instant.ofEpochMilli(acquiredAt), Instant.ofEpochMilli(expiresAt), fence, owner);
    }

    /** A waiter has found the lease of a hand-over, which nobody held before. */
    StoredLease found(long now, Duration ttl) {
        return new StoredLease(lockId, mode, owner, fence, now, now + ttl.toMillis());
    }

    StoredLease rotated(Fence next) {
        return new StoredLease(lockId, mode, owner, next, acquiredAt, expiresAt);
    }

    AcquireResult.Granted grant() {
        return new AcquireResult.Granted(fence, Instant.ofEpochMilli(acquiredAt), Instant.ofEpochMilli(expiresAt));
    }

    /** @param onlyHolder whether nobody else holds the key with it */
    AcquireResult.Holder holder(boolean onlyHolder) {
        return new AcquireResult.Holder(owner, Instant.ofEpochMilli(acquiredAt), onlyHolder, false);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return mode + " lease, fence " + fence + ", until " + expiresAt;
    }
}
