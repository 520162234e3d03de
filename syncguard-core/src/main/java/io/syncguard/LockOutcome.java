package io.syncguard;

/**
 * How an operation on a lock ended.
 */
public enum LockOutcome {

    /** The key was granted. */
    ACQUIRED,

    /** Others held the key, or waited for it, to the end of the wait time. */
    REFUSED,

    /** The lease was extended. */
    EXTENDED,

    /** The lock was released while it was held. */
    RELEASED,

    /** The lock was lost, or the operation found that it was. */
    LOST,

    /** An application transaction locked the row, so that the lease was not extended. The heartbeat tries again. */
    BUSY,

    /** The operation failed with an error. */
    FAILED
}
