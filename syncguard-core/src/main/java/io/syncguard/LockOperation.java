package io.syncguard;

/**
 * The operation that failed.
 */
public enum LockOperation {
    ACQUIRE,
    EXTEND,
    RELEASE
}
