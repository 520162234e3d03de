package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.CurrentLocks;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
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

    /** @param request of the holder, or of a body that joined it */
    static GuardedLease of(LeaseHandle handle, LockRequest request) {
        return new GuardedLease(handle, request.commitGuard());
    }

    /** Those under whose bodies the running thread works. The strictest guard of the bodies of one lease counts. */
    public static Collection<GuardedLease> ofRunningThread() {
        Map<LeaseHandle, GuardedLease> leases = new LinkedHashMap<>();
        for (LockHandle view : CurrentLocks.innermostFirst()) {
            LeaseHandle handle = LeaseHandle.of(view);
            if (handle != null) {
                leases.merge(handle, of(handle, view.request()), GuardedLease::stricter);
            }
        }
        return leases.values();
    }

    /** Binds the transaction that the running thread has begun under its bodies to their leases. */
    public static void bindTransactionOfRunningThread() {
        for (LockHandle view : CurrentLocks.innermostFirst()) {
            LeaseHandle handle = LeaseHandle.of(view);
            if (handle != null) {
                handle.bindTransaction(view.request());
            }
        }
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
     * A transaction that had pinned it has committed. It was held after the pin, so a loss until now does not concern
     * what was written.
     */
    public void committed() {
        if (handle.state() == LockHandle.State.LOST) {
            handle.bodies().committed();
        }
    }

    /** The one of two of the same lease whose guard is stricter. */
    public GuardedLease stricter(GuardedLease other) {
        return guard.compareTo(other.guard) >= 0 ? this : other;
    }
}
