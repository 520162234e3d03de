package io.syncguard.core;

/**
 * The answer to a release.
 */
public enum ReleaseOutcome {

    /** The lease was live and is over now. */
    RELEASED,

    /** There was no lease yet, but a place in the queue, which is given up. */
    LEFT,

    /** The lease with this lock id had lapsed before. */
    EXPIRED,

    /** There is no lease with this lock id: released, swept, or deleted when the key was granted to somebody else. */
    NOT_FOUND,

    /** A transaction of somebody else has the row locked. The lease is as it was; ask again. */
    BUSY
}
