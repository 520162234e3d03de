package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * The holder's view of one grant.
 *
 * <p>A handle belongs to whoever has it, not to a thread: any thread may use it, and several at once.
 *
 * <pre>{@code
 * try (LockHandle lock = locks.tryAcquire(LockRequest.of("order:42"))) {
 *     if (lock != null) {
 *         ...
 *     }
 * }
 * }</pre>
 */
public interface LockHandle extends AutoCloseable {

    /** Where a handle stands. It leaves {@link #HELD} once and for ever. */
    enum State {
        /** Nobody else can have been granted the key. */
        HELD,
        /** The lease ended, or could not be confirmed in time. Somebody else may hold the key. */
        LOST,
        /** Given back by its holder. */
        RELEASED
    }

    /** The request that was granted. */
    LockRequest request();

    /** The key, normalised. */
    String key();

    /** The secret of this grant: whoever knows it may extend and release the lock. Never log it. */
    String lockId();

    /** The number of this grant, to be sent along with writes to stores that check it: the last that {@link #rotateFence} took. */
    Fence fence();

    LockMode mode();

    /**
     * Where this handle stands, judged by a local monotonic clock that was started before the last confirmed request was
     * sent. No I/O. It says {@link State#HELD} only while the server could not have granted the key to anybody else.
     */
    State state();

    /** Whether the state is {@link State#HELD}. */
    default boolean isHeld() {
        return state() == State.HELD;
    }

    /** The time for which the lock is certain to be held without a further extension; zero when it is not held. */
    Duration remaining();

    /** When the lease ends on the server's clock, as the server said last. For people; {@link #remaining} decides. */
    Instant expiresAt();

    /**
     * Sets the time that the lease has left, from now. It may be shorter than before; the heartbeat goes on with the new ttl.
     *
     * @return whether the lock is still held; {@code false} is final
     * @throws LockBackendException when the server cannot be asked, or its answer was lost: the lock is held until its old
     *     deadline or the one asked for, whichever is earlier. If nobody knows what became of it, it may reach the server after a
     *     later one and have the lease end earlier: later extensions then last no longer than this one, as {@link #remaining} says
     */
    boolean extend(Duration ttl);

    /**
     * Extends the lease by its ttl, and takes the next fence of the key for it, in one step that is durable when it is answered.
     * {@link #fence()} and lookups answer the new one from then on. For a lock that is kept for long: stores that have seen the
     * new fence refuse what was sent under an older one and is still on its way.
     *
     * <p>A joined handle does this to the outer hold. Listeners are told of an extension.
     *
     * @return the fence of this lock from now on
     * @throws LockLostException when the lock is not held any more, or turns out not to be
     * @throws LockBackendException when the server cannot be asked, has no fences left, or its answer was lost: the lock is held
     *     as before, and under the fence as before. The server may have taken a fence that nobody is told; whatever is sent
     *     under the one before is in order all the same, because nobody has seen a larger one, and the next rotation leaves
     *     that number out
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when the lock is shared: the order of its fences says who
     *     was granted the key before whom
     */
    Fence rotateFence();

    /**
     * Gives the lock back. Inside a transaction, and while the transaction is open in which the lock was acquired, that
     * happens when it has ended; until then the handle stays {@link State#HELD}. Interrupts do not keep it from being
     * sent, and when the server cannot be reached it is sent again in the background until the ttl is over.
     *
     * @return whether the lock was held until now; {@code false} when it had been lost, or given back before
     */
    boolean release();

    /**
     * Has the callback run once when this handle becomes {@link State#LOST}, at once when it is already. It runs on one of
     * up to sixteen threads of the library; what it throws is logged.
     */
    void onLost(Runnable callback);

    /**
     * Like {@link #release()}, for try-with-resources.
     *
     * @throws LockLostException when the lock was lost before
     */
    @Override
    void close();

    /**
     * The task, to be run under this lock on whatever thread: this handle is the {@link #current() current} one there, nested
     * requests for its key join it, and a loss interrupts that thread if the request says so: a task that fails because of that
     * throws {@link LockLostException}, with what it failed with as the cause. The lock is not released.
     */
    <T extends @Nullable Object> Callable<T> bind(Callable<T> task);

    /** Like {@link #bind(Callable)} for a task without a result. */
    default Runnable bind(Runnable task) {
        Callable<?> bound = bind(Executors.callable(task));
        return () -> {
            try {
                bound.call();
            } catch (RuntimeException ex) {
                throw ex;
            } catch (Exception ex) {
                throw new IllegalStateException("A Runnable throws no checked exception", ex);
            }
        };
    }

    /** The handle under which the running thread works, the innermost where several are nested. */
    static Optional<LockHandle> current() {
        return CurrentLocks.innermostFirst().stream().findFirst();
    }

    /** The innermost handle of this key under which the running thread works. */
    static Optional<LockHandle> current(String key) {
        String normalized = LockLimits.key(key);
        return CurrentLocks.innermostFirst().stream()
                .filter(handle -> handle.key().equals(normalized))
                .findFirst();
    }
}
