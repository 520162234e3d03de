package io.syncguard;

/**
 * Why a lock was refused or lost.
 */
public enum LockReason {

    /** Refused: others held the key, or waited for it. */
    LOCKED,

    /** Lost: the lease lapsed, by the local deadline or by the server's clock. */
    EXPIRED,

    /**
     * Lost: the server has no such lease, because it was released by its lock id, or deleted, or the key was granted to
     * somebody else.
     */
    NOT_FOUND,

    /** Lost: an operator released it by force through this process. Other processes see {@link #NOT_FOUND}. */
    RELEASED_BY_FORCE,

    /** Lost: it was held for the longest time that its request allows. */
    HOLD_AT_MOST,

    /** Lost: it was still held at the end of the shutdown, which released it. */
    SHUTDOWN,

    /** Not held any more: its holder had released it, or the leader stepped down. Listeners receive no such loss. */
    RELEASED
}
