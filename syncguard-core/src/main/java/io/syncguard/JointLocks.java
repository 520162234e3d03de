package io.syncguard;

import java.util.List;

/**
 * Acquires and releases several locks together, in one request to the store where it can do that. The managers of this
 * library do so; a manager of your own that passes its calls on may implement it, too. Thread-safe.
 */
@FunctionalInterface
public interface JointLocks {

    /**
     * Acquires the lock of the first request, as {@link LockManager#acquire} does, and along with it those of the next
     * ones, as far as they are free: one attempt for each. It stops at the first that is not free: no caller must hold
     * a later lock while it waits for an earlier one. Acquire the others after that, in the same order.
     *
     * @param requests in the order in which everybody acquires these keys, so that no two callers wait for each other
     * @return the handles of the first requests, in their order; at least one, unless there are no requests
     * @throws LockException as {@link LockManager#acquire}; none of the locks is held then
     */
    List<LockHandle> acquireTogether(List<LockRequest> requests);

    /**
     * {@link LockHandle#close Closes} handles in reverse order.
     *
     * @throws RuntimeException the failure of the first handle that could not be closed, after all others were closed,
     *     with their failures suppressed
     */
    default void closeAll(List<? extends LockHandle> handles) {
        Throwable failure = null;
        for (int i = handles.size() - 1; i >= 0; i--) {
            try {
                handles.get(i).close();
            } catch (RuntimeException | Error ex) {
                if (failure == null) {
                    failure = ex;
                } else if (failure != ex) {
                    failure.addSuppressed(ex);
                }
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
    }

    /** Returns the joint locks of the current manager. A manager that has none acquires and releases one by one. */
    static JointLocks of(LockManager manager) {
        LockManager current = LockSetupException.requireAnswer("LockManager.current", manager.current());
        return current instanceof JointLocks together ? together : requests -> first(current, requests);
    }

    private static List<LockHandle> first(LockManager manager, List<LockRequest> requests) {
        return requests.isEmpty()
                ? List.of()
                : List.of(LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(requests.get(0))));
    }
}
