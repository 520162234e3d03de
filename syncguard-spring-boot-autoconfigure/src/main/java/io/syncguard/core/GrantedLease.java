package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockRequest;
import java.time.Duration;

/**
 * A key that was granted to an acquisition.
 *
 * @param request what was asked for
 * @param lockId the secret of the lease
 * @param fence the number of the grant
 * @param confirmation until when its holder may act
 * @param waited how long the acquisition took
 */
record GrantedLease(LockRequest request, String lockId, Fence fence, Confirmation confirmation, Duration waited) {

    /** Without the lock id. */
    @Override
    public String toString() {
        return "grant with fence " + fence + ", " + confirmation;
    }
}
