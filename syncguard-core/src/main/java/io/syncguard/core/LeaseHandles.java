package io.syncguard.core;

import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Makes the handles of granted leases, and has them watched and extended. Threads may share it. */
final class LeaseHandles {

    private final Time time;
    private final LeaseMonitor monitor;
    private final Heartbeat heartbeat;
    private final LeaseRenewer renewer;
    private final TransactionReleaser transactionReleaser;
    private final LockReleaser releaser;
    private final BackgroundReleaser backgroundReleaser;
    private final ListenerDispatcher dispatcher;
    private final FenceWarning fenceWarning;
    private final BooleanSupplier grantsLocks;

    /** @param grantsLocks turns false when the engine stops */
    LeaseHandles(
            Time time,
            LeaseMonitor monitor,
            Heartbeat heartbeat,
            LeaseRenewer renewer,
            TransactionReleaser transactionReleaser,
            LockReleaser releaser,
            BackgroundReleaser backgroundReleaser,
            ListenerDispatcher dispatcher,
            FenceWarning fenceWarning,
            BooleanSupplier grantsLocks) {
        this.time = time;
        this.monitor = monitor;
        this.heartbeat = heartbeat;
        this.renewer = renewer;
        this.transactionReleaser = transactionReleaser;
        this.releaser = releaser;
        this.backgroundReleaser = backgroundReleaser;
        this.dispatcher = dispatcher;
        this.fenceWarning = fenceWarning;
        this.grantsLocks = grantsLocks;
    }

    /** Hands out all of them, or none. */
    List<LockHandle> handOut(List<GrantedLease> grants) {
        List<LockHandle> handles = new ArrayList<>();
        try {
            for (GrantedLease grant : grants) {
                handles.add(handOut(grant));
            }
            return handles;
        } catch (Throwable ex) {
            // The failed one was released.
            grants.subList(handles.size() + 1, grants.size())
                    .forEach(each -> backgroundReleaser.release(
                            each.lockId(), each.confirmation().ttl()));
            handles.forEach(handle -> Shielded.run(handle::close, ex::addSuppressed));
            throw ex;
        }
    }

    LockHandle handOut(GrantedLease grant) {
        LeaseBodies bodies = new LeaseBodies();
        Lease lease = null;
        try {
            lease = new Lease(time, grant, dispatcher.observeHeld(grant), (lost, reason, explanation) -> {
                List<Runnable> callbacks = bodies.lost();
                monitor.remove(lost);
                dispatcher.lost(lost, reason, explanation, callbacks);
            });
            LeaseHandle handle = new LeaseHandle(lease, bodies, renewer, transactionReleaser, dispatcher);
            start(grant, handle);
            return handle;
        } catch (Throwable ex) {
            // Nobody has the handle: the lease would be extended for the life of the process.
            if (lease == null) {
                backgroundReleaser.release(grant.lockId(), grant.confirmation().ttl());
            } else {
                releaser.release(lease);
            }
            throw ex;
        }
    }

    private void start(GrantedLease grant, LeaseHandle handle) {
        monitor.add(handle);
        heartbeat.schedule(handle.lease());
        fenceWarning.check(grant.fence(), handle.key());
        dispatcher.dispatch(grant.request(), grant.fence(), grant.waited(), LockListener::acquired);
        // Checked after the lease was added: either the engine that stops finds it, or this thread finds that it stops.
        if (!grantsLocks.getAsBoolean()) {
            throw Acquirer.shuttingDown(handle.key(), null);
        }
        handle.bindTransaction(grant.request());
    }
}
