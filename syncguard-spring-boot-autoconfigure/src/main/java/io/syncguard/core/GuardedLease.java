package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.CurrentLocks;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** A lease, as a transaction sees it that commits under it. Threads may share it. */
public final class GuardedLease {

    private final LeaseHandle handle;
    private final CommitGuard guard;

    private GuardedLease(LeaseHandle handle, CommitGuard guard) {
        this.handle = handle;
        this.guard = guard == CommitGuard.DEFAULT ? handle.transactions().defaultGuard() : guard;
    }

    static GuardedLease of(LeaseHandle handle) {
        return new GuardedLease(handle, handle.request().commitGuard());
    }

    /** Those under whose bodies the running thread works. The strictest guard of the bodies of one lease counts. */
    public static Collection<GuardedLease> ofRunningThread() {
        Map<LeaseHandle, GuardedLease> leases = new LinkedHashMap<>();
        for (LockHandle view : CurrentLocks.innermostFirst()) {
            LeaseHandle handle = LeaseHandle.of(view);
            if (handle != null) {
                GuardedLease lease = new GuardedLease(handle, view.request().commitGuard());
                leases.merge(handle, lease, GuardedLease::stricter);
            }
        }
        return leases.values();
    }

    /** The transactions that its engine sees. */
    public TransactionBoundary transactions() {
        return handle.transactions();
    }

    public String key() {
        return handle.key();
    }

    public String lockId() {
        return handle.lockId();
    }

    public CommitGuard guard() {
        return guard;
    }

    /** Whether its holder has released it, and the release waits for the end of a transaction. */
    public boolean isDeferred() {
        return handle.deferredRelease().isPending();
    }

    /** @throws LockLostException unless it is held, by the local deadline */
    public void requireHeld() {
        handle.requireHeld(handle);
    }

    /** Ends it as lost: the server does not know it any more. */
    public LockLostException lost(String explanation) {
        handle.lease().lose(LockReason.NOT_FOUND, explanation);
        return handle.lostException();
    }

    /**
     * A transaction that had pinned it has committed. It was held after the pin, so a loss until now belongs to the
     * commit.
     */
    public void committed() {
        if (handle.state() == LockHandle.State.LOST) {
            handle.bodies().committed();
        }
    }

    /** Whether both are of the same grant. */
    public boolean isSameAs(GuardedLease other) {
        return handle == other.handle;
    }

    private GuardedLease stricter(GuardedLease other) {
        return guard.compareTo(other.guard) >= 0 ? this : other;
    }
}
