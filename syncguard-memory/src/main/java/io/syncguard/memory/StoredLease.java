package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;

/** A lease in the store, live or lapsed. The lock of the store guards it. All times are of the store's clock. */
final class StoredLease {

    private final AcquireRequest request;

    /** Without a holder: the lease only blocks the key until its time to hold at least is over. */
    private boolean released;

    /** Whether the listener has learned of its end. */
    private boolean ended;

    private long fence;
    private long acquiredAt;
    private long expiresAt;

    StoredLease(AcquireRequest request, long fence, long now, Duration ttl) {
        this.request = request;
        this.fence = fence;
        this.acquiredAt = now;
        this.expiresAt = now + ttl.toMillis();
    }

    AcquireRequest request() {
        return request;
    }

    boolean has(String lockId) {
        return !released && request.lockId().equals(lockId);
    }

    boolean isLive(long now) {
        return freeAt() > now;
    }

    boolean has(Fence other) {
        return fence == other.value();
    }

    /** When the key is free of it: one tolerance after its end. */
    long freeAt() {
        return expiresAt + LockBackend.TOLERANCE_MILLIS;
    }

    long expiresAt() {
        return expiresAt;
    }

    void expireAt(long end) {
        expiresAt = end;
    }

    /** The waiter has found this grant, which nobody held before. */
    void found(long now, Duration ttl) {
        acquiredAt = now;
        expiresAt = now + ttl.toMillis();
    }

    /** Ends it and its tolerance now. */
    void expire(long now) {
        expiresAt = now - LockBackend.TOLERANCE_MILLIS;
    }

    void rotated(long next) {
        fence = next;
    }

    /** Takes it from its holder, and reserves the key for this time after the grant. */
    void reserve(Duration held) {
        released = true;
        expiresAt = acquiredAt + held.toMillis() - LockBackend.TOLERANCE_MILLIS;
    }

    /** Returns true once. */
    boolean end() {
        boolean first = !ended;
        ended = true;
        return first;
    }

    boolean isReserved() {
        return released;
    }

    AcquireResult.Granted grant() {
        return new AcquireResult.Granted(
                new Fence(fence), Instant.ofEpochMilli(acquiredAt), Instant.ofEpochMilli(expiresAt));
    }

    /** @param onlyHolder whether nobody else holds the key with it */
    AcquireResult.Holder holder(boolean onlyHolder) {
        return new AcquireResult.Holder(request.owner(), Instant.ofEpochMilli(acquiredAt), onlyHolder, false);
    }

    RawLockInfo info() {
        return new RawLockInfo(
                request.key(),
                released ? "released:" + request.lockId() : request.lockId(),
                request.mode(),
                Instant.ofEpochMilli(acquiredAt),
                Instant.ofEpochMilli(expiresAt),
                new Fence(fence),
                request.owner());
    }
}
