package io.syncguard;

/**
 * Whether a lock excludes all others of the same key. Both modes wait in one queue, in the order of arrival.
 */
public enum LockMode {

    /** No other lease of the key is live at the same time. The write lock. */
    EXCLUSIVE,

    /** Any number of shared leases of the key live at the same time, and no exclusive one. The read lock. */
    SHARED
}
