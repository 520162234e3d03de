package io.syncguard;

/**
 * How a grant stands beside other grants of the same key. Both modes wait in one queue, in the order of arrival.
 */
public enum LockMode {

    /** Lives alone: no other grant of the key is live at the same time. The write lock. */
    EXCLUSIVE,

    /** Lives beside any number of shared grants and no exclusive one. The read lock. */
    SHARED
}
