package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockRequest;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;

/**
 * A key that was granted to an acquisition.
 *
 * @param request what was asked for
 * @param lockId the secret of the lease
 * @param fence the number of the grant
 * @param confirmation until when its holder may act
 * @param waited how long the acquisition took
 * @param settledAt when the last request whose answer was lost can no longer be executed; 0 if there is none
 * @param observation that of the acquisition
 */
record GrantedLease(
        LockRequest request,
        String lockId,
        Fence fence,
        Confirmation confirmation,
        Duration waited,
        long settledAt,
        AcquireObservation observation) {

    /** Granted to the only request. */
    GrantedLease(LockRequest request, String lockId, Fence fence, Confirmation confirmation, Duration waited) {
        this(request, lockId, fence, confirmation, waited, 0, AcquireObservation.NONE);
    }

    GrantedLease settledAt(long time) {
        return new GrantedLease(request, lockId, fence, confirmation, waited, time, observation);
    }

    GrantedLease observedBy(AcquireObservation acquisition) {
        return new GrantedLease(request, lockId, fence, confirmation, waited, settledAt, acquisition);
    }

    KeyedLockId keyedLockId() {
        return new KeyedLockId(request.key(), lockId);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return "grant with fence " + fence + ", " + confirmation;
    }
}
