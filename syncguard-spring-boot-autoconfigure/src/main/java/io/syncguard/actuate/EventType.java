package io.syncguard.actuate;

/** What happened to a lock or an election of this process. */
public enum EventType {

    /** A lock was granted. */
    ACQUIRED,

    /** A caller began to wait. */
    WAITING,

    /** Others held the key to the end of the wait time. */
    REFUSED,

    /** A lock was released by its holder. */
    RELEASED,

    /** A lock was lost by its holder. */
    LOST,

    /** The leak detection reported a lock. */
    LEAKED,

    /** An operation failed. */
    FAILED,

    /** An operator ended the leases of a key through this process. */
    FORCE_RELEASED,

    /**
     * An operator tried to end leases of a key, and none has ended: nobody held it, or not the lease that was named.
     */
    NOT_HELD,

    /** This process was elected. */
    ELECTED,

    /** The leadership of this process has ended. */
    REVOKED;

    /** Whether the event happens to each working lock. Such events must not displace the others. */
    boolean isRoutine() {
        return this == ACQUIRED || this == RELEASED || this == WAITING;
    }
}
