package io.syncguard.core;

import io.syncguard.LockHandle;
import io.syncguard.concurrent.Shielded;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Makes the handles of granted leases, has them watched and extended, and releases many together. Thread-safe.
 */
final class LeaseHandles {

    private final EngineParts parts;
    private final Heartbeat heartbeat;
    private final BackgroundReleaser backgroundReleaser;
    private final FenceWarning fenceWarning;
    private final BooleanSupplier grantsLocks;
    private final LeaseReturner returner;

    /** @param grantsLocks turns false when the engine stops */
    LeaseHandles(
            EngineParts parts,
            Heartbeat heartbeat,
            BackgroundReleaser backgroundReleaser,
            FenceWarning fenceWarning,
            BooleanSupplier grantsLocks) {
        this.parts = parts;
        this.heartbeat = heartbeat;
        this.backgroundReleaser = backgroundReleaser;
        this.fenceWarning = fenceWarning;
        this.grantsLocks = grantsLocks;
        this.returner =
                new LeaseReturner(parts.releaser(), backgroundReleaser, parts.monitor(), parts.reports(), parts.time());
    }

    LockHandle handOut(GrantedLease grant) {
        LeaseHandle handle = begin(grant);
        try {
            handle.bindTransaction(grant.request());
            return handle;
        } catch (Throwable ex) {
            parts.releaser().release(handle.lease());
            throw ex;
        }
    }

    /** Begins all of these leases, or none. Their handles are not bound to the running transaction. */
    List<LeaseHandle> begin(List<GrantedLease> grants) {
        List<LeaseHandle> handles = new ArrayList<>();
        try {
            for (GrantedLease grant : grants) {
                handles.add(begin(grant));
            }
            return handles;
        } catch (Throwable ex) {
            // The failed one was released.
            grants.subList(handles.size() + 1, grants.size())
                    .forEach(each -> backgroundReleaser.release(
                            each.keyedLockId(), each.confirmation().ttl()));
            giveBack(handles, ex);
            throw ex;
        }
    }

    /** Begins a lease. Its handle is not bound to the running transaction. */
    LeaseHandle begin(GrantedLease grant) {
        LeaseHandle handle = null;
        try {
            handle = new LeaseHandle(grant, parts);
            start(grant, handle);
            return handle;
        } catch (Throwable ex) {
            // Nobody has the handle: the lease would be extended for the life of the process.
            if (handle == null) {
                backgroundReleaser.release(
                        grant.keyedLockId(), grant.confirmation().ttl());
            } else {
                parts.releaser().release(handle.lease());
            }
            throw ex;
        }
    }

    /** Releases leases under which nobody has worked, at once: neither a transaction nor a least time delays that. */
    void giveBack(List<LeaseHandle> handles, Throwable reason) {
        List<Lease> leases =
                new ArrayList<>(handles.stream().map(LeaseHandle::lease).toList());
        Collections.reverse(leases);
        Shielded.run(() -> returner.giveBack(leases), reason::addSuppressed);
    }

    /**
     * Releases the handles of this engine as far as each release would be sent now, in the reverse order. Closing them
     * afterwards reports the losses, and releases the others: those that fail, and those whose lease was lost while a
     * transaction committed.
     */
    void releaseTogether(List<? extends LockHandle> handles) {
        List<Lease> leases = new ArrayList<>();
        for (int i = handles.size() - 1; i >= 0; i--) {
            if (handles.get(i) instanceof LeaseHandle handle && handle.isIn(parts.backend()) && beginRelease(handle)) {
                leases.add(handle.lease());
            }
        }
        parts.releaser().release(leases);
    }

    private static boolean beginRelease(LeaseHandle handle) {
        try {
            return handle.beginRelease();
        } catch (Throwable ex) {
            // The release of this handle alone meets the same failure, and reports it.
            return false;
        }
    }

    private void start(GrantedLease grant, LeaseHandle handle) {
        parts.monitor().add(handle.lease(), handle, handle::wasUsed, handle::isAbandoned);
        heartbeat.schedule(handle.lease());
        fenceWarning.check(grant.fence(), handle.key());
        parts.reports().acquired(handle.lease(), grant.waited());
        // Checked again after the lease was added: stop() may have run in between.
        if (!grantsLocks.getAsBoolean()) {
            throw Acquirer.shuttingDown(handle.key(), null);
        }
    }
}
