package io.syncguard.core;

/**
 * The answer to a release.
 */
public enum ReleaseOutcome {

    /** The lease was live and is over now. */
    RELEASED,

    /** There is no live lease with this lock id. */
    NOT_HELD,

    /** A transaction of somebody else has the row locked. The lease is as it was; ask again. */
    BUSY
}
