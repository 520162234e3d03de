package io.syncguard;

/**
 * How a grant stands beside other grants of the same key.
 */
public enum LockMode {

    /** Lives alone: no other grant of the key is live at the same time. */
    EXCLUSIVE
}
