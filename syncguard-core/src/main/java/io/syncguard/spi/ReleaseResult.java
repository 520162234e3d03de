package io.syncguard.spi;

/**
 * The answer to a release.
 */
public enum ReleaseResult {

    /** The lease was live and has ended. */
    RELEASED,

    /** There was no lease, but a queue entry, which is deleted. */
    LEFT,

    /** The lease had lapsed before. */
    EXPIRED,

    /** No lease has this lock id: released, swept, or deleted when the key was granted to somebody else. */
    NOT_FOUND,

    /** An application transaction locks the row. The lease is unchanged; ask again. */
    BUSY
}
