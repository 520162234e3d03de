package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.core.GuardedLease;

/** A lease under which a transaction has worked. One thread at a time uses it. */
final class BoundLease {

    private final Runnable afterCompletion;

    /** Whether the transaction had begun when the lease was bound. */
    private final boolean isBoundInside;

    private GuardedLease lease;

    BoundLease(GuardedLease lease, boolean isBoundInside, Runnable afterCompletion) {
        this.lease = lease;
        this.isBoundInside = isBoundInside;
        this.afterCompletion = afterCompletion;
    }

    GuardedLease lease() {
        return lease;
    }

    boolean isBoundInside() {
        return isBoundInside;
    }

    /** Whether the transaction may commit only while the lease is held. */
    boolean isNeeded() {
        return lease.guard() != CommitGuard.OFF;
    }

    /** Binds the lease again. The stricter of both guards counts. */
    void again(GuardedLease again) {
        lease = lease.stricter(again);
    }

    void transactionEnded() {
        afterCompletion.run();
    }
}
