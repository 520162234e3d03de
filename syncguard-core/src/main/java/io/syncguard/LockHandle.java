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
 * <p>A handle belongs to no thread: any thread may use it, and several at once.
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

    /** The state of a handle. It leaves {@link #HELD} once. */
    enum State {
        /** Nobody else can have been granted the key. */
        HELD,
        /** The lease ended, or could not be confirmed in time. Somebody else may hold the key. */
        LOST,
        /** Released by its holder. */
        RELEASED
    }

    /** The request that was granted. */
    LockRequest request();

    /** The key, normalised. */
    String key();

    /** The secret of this lease: who has it may extend and release the lock. Never log it. */
    String lockId();

    /**
     * The number of this grant, to be sent along with writes to stores that check it: the last that
     * {@link #rotateFence} took.
     */
    Fence fence();

    /** Whether the lock excludes all others of its key. */
    LockMode mode();

    /**
     * The state by the local monotonic clock: the deadline is one ttl after the last confirmed request was sent. No
     * I/O. It is {@link State#HELD} only while the server could not have granted the key to anybody else.
     */
    State state();

    /** Whether the state is {@link State#HELD}. */
    default boolean isHeld() {
        return state() == State.HELD;
    }

    /** The time for which the lock is certain to be held without a further extension; zero when it is not held. */
    Duration remaining();

    /** When the lease ends on the server's clock, by its last answer. For people; {@link #remaining} is what counts. */
    Instant expiresAt();

    /**
     * Sets the time that the lease has left, from now. It may be shorter than before; the heartbeat goes on with the
     * new ttl.
     *
     * @param ttl whole milliseconds from 1 ms to 365 days
     * @return whether the lock is still held; {@code false} is final
     * @throws LockBackendException when the request fails: the lock is held until its old deadline or the requested
     *     one, whichever is earlier. If the outcome is in doubt, the request may reach the server after a later one and
     *     end the lease earlier. So later extensions last no longer than this one, as {@link #remaining} shows
     */
    boolean extend(Duration ttl);

    /**
     * {@link #extend Extends} the lock by the ttl of a request, which the settings of the request's name may replace.
     * The {@code holdAtLeast} of the request counts from now on, if it ends later. Its other parts have no effect. It
     * throws what {@link #extend} throws.
     *
     * @return whether the lock is still held; {@code false} is final
     */
    default boolean extendAs(LockRequest request) {
        Duration ttl = LockLimits.requireNonNull("request", request).ttl();
        return ttl == null ? isHeld() : extend(ttl);
    }

    /**
     * Extends the lease by its ttl, and takes the next fence of the key for it, in one step that is durable when it is
     * answered. {@link #fence()} and lookups return the new one from then on. For a lock that is held for long: stores
     * that have seen the new fence refuse writes that were sent under an older one.
     *
     * <p>On a joined handle it rotates the fence of the shared lease. Listeners receive {@link LockListener#extended}.
     *
     * @return the fence of this lock from now on
     * @throws LockLostException when the lock is not held any more, or turns out not to be
     * @throws LockBackendException when the request fails, or the counter is at its end: the lock is held as before,
     *     under the same fence. The server may have taken a fence whose answer was lost. Writes under the fence before
     *     stay valid, because no store has seen a larger one; the next rotation takes a larger number
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when the lock is shared: the fences of shared
     *     locks show the order of the grants
     */
    Fence rotateFence();

    /**
     * Releases the lock. While a transaction is open in which the lock was acquired, ran a body, or this is called, the
     * release is sent when it has ended; until then the handle stays {@link State#HELD}. An interrupt does not prevent
     * the release. If the server cannot be reached, the release is repeated in the background until the ttl is over.
     *
     * @return whether the lock was held until now; {@code false} when it had been lost or released before
     */
    boolean release();

    /**
     * The loss of this lock, with its {@link LockLostException#reason() reason} and the errors of the last extensions
     * that failed, for a callback of {@link #onLost}. {@code null} unless the state is {@link State#LOST}.
     */
    default @Nullable LockLostException loss() {
        return null;
    }

    /**
     * Registers a callback that runs once when this handle becomes {@link State#LOST}, or at once if it is lost
     * already. It runs on one of four threads of the library. An exception is logged.
     */
    void onLost(Runnable callback);

    /**
     * Like {@link #release()}, for try-with-resources.
     *
     * @throws LockLostException when the lock was lost before; after a loss during a commit that succeeded, when the
     *     server does not have the lease any more
     */
    @Override
    void close();

    /**
     * Binds a task to this lock, to be run on any thread. While it runs, this handle is the {@link #current() current}
     * one, nested requests for its key join it, and a loss interrupts the thread if the request wants that. A task that
     * fails because of the interrupt throws {@link LockLostException} with its exception as the cause. The task does
     * not release the lock.
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

    /** The handle under which the running thread works, the innermost where several are nested; empty without one. */
    static Optional<LockHandle> current() {
        return CurrentLocks.innermostFirst().stream().findFirst();
    }

    /**
     * The innermost handle of this key under which the running thread works; empty without one.
     *
     * @throws IllegalKeyException when the key is outside {@link LockLimits#key}
     */
    static Optional<LockHandle> current(String key) {
        String normalized = LockLimits.key(key);
        return CurrentLocks.innermostFirst().stream()
                .filter(handle -> handle.key().equals(normalized))
                .findFirst();
    }
}
