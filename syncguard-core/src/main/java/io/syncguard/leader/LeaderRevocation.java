package io.syncguard.leader;

/**
 * Why a term has ended.
 */
public enum LeaderRevocation {

    /** It handed the leadership over to the next member. */
    RESIGNED,

    /** It does not campaign until it is resumed. */
    PAUSED,

    /** It left the election. */
    LEFT,

    /** The application stops. */
    SHUTDOWN,

    /**
     * The lease could not be extended in time, or the server does not know it any more. Another member may lead
     * already.
     */
    LOST
}
