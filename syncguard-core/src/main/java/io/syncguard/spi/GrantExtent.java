package io.syncguard.spi;

/** Which requests of a list {@link LockBackend#acquire} grants. */
public enum GrantExtent {
    /** The only request of the list. The store may wait for a locked row. */
    ONE,
    /** Each by itself: the requests belong to different callers. The store never waits for a locked row. */
    EACH,
    /** All or none: for a caller that does not wait. */
    ALL,
    /** Those in front of the first that is refused: for a caller that waits for that key next. */
    IN_FRONT,
    /** None. A refusal says which key is not free: for a caller that asks several servers. */
    NOTHING
}
