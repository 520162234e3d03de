package io.syncguard;

/**
 * Why a lock was refused or lost.
 */
public enum LockReason {

    /** Refused: others held the key, or waited for it. */
    LOCKED,

    /** Lost: the lease was over, by the holder's own deadline or by the server's clock. */
    EXPIRED,

    /** Lost: the server has no such lease, because it was released by its lock id, or deleted, or the key is somebody else's. */
    NOT_FOUND,

    /** Lost: it was still held when the application had shut down, and was taken away. */
    SHUTDOWN
}
