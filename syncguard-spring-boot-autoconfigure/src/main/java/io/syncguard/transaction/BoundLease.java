package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.core.GuardedLease;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** A lease under which a transaction has worked. One thread at a time uses it. */
final class BoundLease {

    private final Runnable afterCompletion;

    /** Whether the transaction had begun when the lease was bound. */
    private final boolean isBoundInside;

    private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
    private GuardedLease lease;
    private boolean undone;

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
        return !undone && lease.guard() != CommitGuard.OFF;
    }

    /** The transaction works under it once more. */
    void again(GuardedLease again) {
        if (undone) {
            undone = false;
            laterSavepoints.clear();
        }
        lease = lease.stricter(again);
    }

    void savepoint(Object savepoint) {
        laterSavepoints.add(savepoint);
    }

    /** A rollback to a savepoint that is older than the binding undoes all work under a lease that is not used any more. */
    void savepointRollback(Object savepoint, boolean isInUse) {
        undone = undone || !isInUse && !lease.isHeld() && !laterSavepoints.contains(savepoint);
    }

    void transactionEnded() {
        afterCompletion.run();
    }
}
