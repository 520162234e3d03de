package io.syncguard.rules;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Instant;

/** The extensions of a lease. */
final class ExtendRule {

    private final KeyStep step;

    ExtendRule(KeyStep step) {
        this.step = step;
    }

    ExtendResult extend(ExtendRequest request) {
        StoredLease lease = step.leases().find(request.id().lockId());
        if (lease == null) {
            return new ExtendResult.NotFound();
        }
        if (!lease.isLive(step.now())) {
            return new ExtendResult.Expired();
        }
        return new ExtendResult.Extended(Instant.ofEpochMilli(extend(lease, request)));
    }

    ExtendResult rotate(ExtendRequest request) {
        StoredLease lease = step.leases().find(request.id().lockId());
        if (lease == null || lease.mode() == LockMode.SHARED) {
            return new ExtendResult.NotFound();
        }
        if (!lease.isLive(step.now())) {
            return new ExtendResult.Expired();
        }
        Fence next = step.fences().next(step.now());
        StoredLease rotated = step.leases().replace(lease, lease.rotated(next));
        return new ExtendResult.Rotated(Instant.ofEpochMilli(extend(rotated, request)), next);
    }

    /** Returns the new end. An earlier one than before wakes the front of the queue, which knows the old one. */
    private long extend(StoredLease lease, ExtendRequest request) {
        long end = step.in(request.ttl());
        step.leases().replace(lease, lease.until(end));
        if (end < lease.expiresAt()) {
            step.wakeFront();
        }
        return end;
    }
}
