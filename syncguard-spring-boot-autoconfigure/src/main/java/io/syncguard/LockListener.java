package io.syncguard;

/**
 * Is told what happens to the locks of this process. Every bean of this type is.
 *
 * <p>Many threads call them at once. What a caller does is told on the caller's thread, and delays this caller alone. What the
 * heartbeat does is told on {@code syncguard-events}, one event after the other, and a loss on {@code syncguard-lost-listener-n}:
 * so a listener that blocks delays its caller and other listeners, and never the heartbeat or a callback of a lost lock. When a
 * hundred statements of the heartbeat are still to be told, further ones are left out with a warning. What a listener throws is
 * logged and changes nothing.
 *
 * <p>No events are: a request that joins an outer hold, and what is done by lock id alone to a lock of another process.
 */
public interface LockListener {

    /** The key was taken at the first attempt, and the caller waits from now on. {@link #waitEnded} follows. */
    default void waitStarted(LockEvent event) {}

    /** The caller waits no longer. What came of it follows: {@link #acquired}, {@link #refused} or {@link #failed}. */
    default void waitEnded(LockEvent event) {}

    /** The lock was granted. The time is that from the call to the grant. */
    default void acquired(LockEvent event) {}

    /** Somebody else held the key to the end of the wait time: {@link LockReason#LOCKED}. */
    default void refused(LockEvent event) {}

    /** The lease was extended, by the heartbeat or by hand. */
    default void extended(LockEvent event) {}

    /** The lock was given back while it was held. The time is that from the grant. */
    default void released(LockEvent event) {}

    /** The lock was lost, for one of the other {@link LockReason reasons}. The time is that from the grant. Told once. */
    default void lost(LockEvent event) {}

    /**
     * The server failed, the caller was interrupted, the application is shutting down, or the ttl was over before the grant
     * arrived. After a failed extension the lock is still held. After a failed release {@link #released} follows: the handle
     * has ended, and the key stays taken until the release gets through in the background or the ttl is over.
     */
    default void failed(LockEvent event, LockOperation operation, LockException error) {}
}
