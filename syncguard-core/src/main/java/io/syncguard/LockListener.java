package io.syncguard;

/**
 * Receives the events of the locks of this process. Every bean of this type is registered when all beans exist, so
 * it may need locks itself. Many threads call it at once.
 *
 * <p>The thread depends on the event. Events of a call arrive on the caller's thread. Events of the heartbeat arrive on
 * {@code syncguard-events}, one after the other. Losses arrive on {@code syncguard-lost-listener-n}. So a listener that
 * blocks delays its caller and other listeners, but neither the heartbeat nor the callbacks of a lost lock. If the
 * events of a hundred statements of the heartbeat wait, further ones are dropped with a warning.
 *
 * <p>Whatever a listener throws is logged and changes nothing. An {@link InterruptedException} also sets the interrupt
 * flag of the thread: the interrupt was meant for the caller. A flag that the listener clears is set again.
 *
 * <p>There is no event for a request that joins an outer handle, or for an operation by lock id on a lock of another
 * process.
 */
public interface LockListener {

    /** The first attempt was not granted, and the caller waits from now on. {@link #waitEnded} follows. */
    default void waitStarted(LockEvent event) {}

    /** The caller waits no longer. {@link #acquired}, {@link #refused} or {@link #failed} follows. */
    default void waitEnded(LockEvent event) {}

    /** The lock was granted. The time is that from the call to the grant. */
    default void acquired(LockEvent event) {}

    /** Somebody else held the key to the end of the wait time: {@link LockReason#LOCKED}. */
    default void refused(LockEvent event) {}

    /** The lease was extended, by the heartbeat or by hand. */
    default void extended(LockEvent event) {}

    /** The lock was released while it was held. The time is that from the grant. */
    default void released(LockEvent event) {}

    /**
     * The lock was lost, for one of the other {@link LockReason reasons}. The time is that from the grant. Comes once.
     */
    default void lost(LockEvent event) {}

    /**
     * The lock has been held for longer than {@code syncguard.leak-detection-threshold} while no body ran under it, so
     * its handle may have been forgotten. Comes once, on the threads of losses; the time is that from the grant.
     */
    default void leaked(LockEvent event) {}

    /**
     * The server failed, the caller was interrupted, the application is shutting down, or the ttl was over before the
     * grant arrived. After a failed extension the lock is still held. After a failed release {@link #released} follows:
     * the handle has ended, and the key stays taken until the release gets through in the background or the ttl is
     * over.
     */
    default void failed(LockEvent event, LockOperation operation, LockException error) {}

    /**
     * An operator has ended all leases of a key, through this process: on the thread that called. The key may be locked
     * by any process; a holder in this process is informed as for any loss.
     *
     * @param reason who and why
     */
    default void forceReleased(ForcedRelease release, String reason) {}
}
