package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;

/**
 * One key of an acquisition, under its lock id.
 *
 * @param sent the request of a caller who does not wait: that of the only attempt, and of the last one of a waiter
 */
record KeyAttempt(LockRequest request, AcquireRequest sent) {

    String key() {
        return request.key();
    }

    KeyedLockId keyedLockId() {
        return sent.keyedLockId();
    }

    Duration ttl() {
        return sent.options().ttl();
    }
}
