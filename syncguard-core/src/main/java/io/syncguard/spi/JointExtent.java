package io.syncguard.spi;

/** What {@link LockBackend#acquireTogether} grants. */
public enum JointExtent {

    /** All keys or none: for a caller that does not wait. */
    ALL,

    /** The keys in front of the first that is not free: for a caller that waits for that one next. */
    IN_FRONT,

    /** No key. The answer says whether all were free: for a caller that asks several servers. */
    NOTHING
}
