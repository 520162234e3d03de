package io.syncguard;

/**
 * The operation that failed.
 */
public enum LockOperation {
    /** An attempt to get a key, or a wait for it. */
    ACQUIRE,
    /** A heartbeat, or an extension by hand. */
    EXTEND,
    /** An unlock, or the end of a wait. */
    RELEASE
}
