package io.syncguard;

/**
 * How a running body learns that its lease was lost. {@link LockLostException} follows at its end in both cases.
 */
public enum OnLost {

    /** The thread that runs the body is interrupted; a future that the body returned is cancelled. */
    INTERRUPT,

    /**
     * The body is not interrupted. {@link LockHandle#onLost Callbacks}, {@link LockHandle#state()} and listeners report
     * the loss.
     */
    NOTIFY
}
