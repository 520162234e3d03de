package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockHandle;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** The bodies that run on this thread, for a transaction that begins under them. */
public final class GuardedBodies {

    private GuardedBodies() {}

    /** The leases of the bodies. The strictest guard of the bodies of one lease counts. */
    public static Collection<GuardedLease> leases() {
        Map<LeaseHandle, GuardedLease> leases = new LinkedHashMap<>();
        for (LockHandle view : CurrentLocks.innermostFirst()) {
            LeaseHandle handle = LeaseHandle.of(view);
            if (handle != null) {
                leases.merge(handle, handle.guarded(view.request()), GuardedLease::stricter);
            }
        }
        return leases.values();
    }

    /** Binds the transaction that the running thread has begun under its bodies to their leases. */
    public static void bindTransaction() {
        for (LockHandle view : CurrentLocks.innermostFirst()) {
            LeaseHandle handle = LeaseHandle.of(view);
            if (handle != null) {
                handle.bindTransaction(view.request());
            }
        }
    }
}
