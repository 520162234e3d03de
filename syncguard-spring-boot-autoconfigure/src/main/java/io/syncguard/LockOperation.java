package io.syncguard;

/**
 * What was asked of the server when it failed.
 */
public enum LockOperation {
    ACQUIRE,
    EXTEND,
    RELEASE
}
