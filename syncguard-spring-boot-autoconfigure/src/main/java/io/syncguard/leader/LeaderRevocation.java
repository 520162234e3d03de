package io.syncguard.leader;

/**
 * Why a process leads no longer.
 */
public enum LeaderRevocation {

    /** It gave the leadership to the next one. */
    RESIGNED,

    /** It campaigns no more until it is resumed. */
    PAUSED,

    /** It left the election. */
    LEFT,

    /** The application stops. */
    SHUTDOWN,

    /** The lease could not be extended in time, or the server knew it no more. Another one may lead already. */
    LOST
}
