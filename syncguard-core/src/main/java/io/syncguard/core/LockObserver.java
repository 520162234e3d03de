package io.syncguard.core;

import io.syncguard.LockRequest;

/**
 * Observes the operations of locks, for traces. Thread-safe.
 *
 * <p>A call observes on the thread that makes it. For the heartbeat and for losses there are threads that nothing waits
 * for. So an observer that blocks delays callers, but neither heartbeats nor the detection of a loss. What it throws is
 * logged, and changes nothing for the lock. A nested request that joins an outer handle is not observed, and neither is
 * an operation by lock id on a lock of another process.
 */
public interface LockObserver {

    /** Observes nothing, at no cost. */
    LockObserver NONE = (backend, request) -> AcquireObservation.NONE;

    /** Called before the first attempt, by the thread that acquires the lock. */
    AcquireObservation acquire(String backend, LockRequest request);
}
