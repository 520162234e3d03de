package io.syncguard;

/**
 * Is told what happens to the locks of this process. Every bean of this type is.
 *
 * <p>Methods run on the thread on which it happens, the caller's or one of the library's, and delay it: they have to be
 * quick. What they throw is logged and changes nothing. A request that joins an outer hold is no event.
 */
public interface LockListener {

    /** The key was taken at the first attempt, and the caller waits from now on. {@link #waitEnded} follows. */
    default void waitStarted(LockEvent event) {}

    /** The caller waits no longer. What came of it follows: {@link #acquired}, {@link #refused} or {@link #failed}. */
    default void waitEnded(LockEvent event) {}

    /** The lock was granted. The time is that from the call to the grant. */
    default void acquired(LockEvent event) {}

    /** Somebody else held the key to the end of the wait time. */
    default void refused(LockEvent event) {}

    /** The lease was extended, by the heartbeat or by hand. */
    default void extended(LockEvent event) {}

    /** The lock was given back while it was held. The time is that from the grant. */
    default void released(LockEvent event) {}

    /** The lock was lost. The time is that from the grant. Told once, on a thread of its own. */
    default void lost(LockEvent event) {}

    /** The server failed, or the caller was interrupted. After a failed extension or release the lock is still held. */
    default void failed(LockEvent event, LockOperation operation, LockException error) {}
}
