package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Grants locks, for {@link LockTemplate} and {@link DistributedLock}. Use it directly if a lock outlives a block of
 * code. Thread-safe.
 *
 * <p>Every method throws {@link LockException} with {@link LockErrorCode#INVALID_ARGUMENT} for a value outside
 * {@link LockLimits}, before anything is sent, and {@link LockBackendException} when the server cannot be asked.
 */
public interface LockManager {

    /**
     * Acquires the lock, waiting at most the wait time of the request. Callers of one key are served in the order of
     * their arrival, from all processes. Shared callers next to each other in the queue are granted together.
     *
     * <p>If the running thread already works under a lock of this manager with the same key, the request joins that
     * handle: no I/O, the same fence, and releasing the returned handle does not release the lease.
     *
     * @throws LockNotAcquiredException when the wait time is over
     * @throws LockLostException when the handle to be joined was lost, or the ttl was over before the grant arrived
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when the request is exclusive and the handle to
     *     be joined shared, and with {@link LockErrorCode#ABORTED} when the thread is interrupted (the flag stays set)
     *     or the application shuts down
     */
    LockHandle acquire(LockRequest request);

    /**
     * Acquires the locks of all requests, or none. A call that does not wait takes them in one step: nobody sees a part
     * of it. A call that waits holds only the keys in front of the one that it waits for, in an order that is the same
     * for all callers, so two calls never wait for each other.
     *
     * <p>The call waits as long as the shortest wait time of its requests. Of several requests for one key, the one
     * that lets in the fewest others counts. A key that the running thread already works under is joined.
     *
     * <p>If the store has several servers, a call that does not wait looks at all keys before it takes any. A refused
     * call gives back all keys before it returns.
     *
     * @param requests 1 to {@value LockLimits#MAX_KEYS}
     * @throws LockNotAcquiredException when the wait time is over; no lock is held then
     * @throws LockLostException when a lock was lost while the call waited for another one; no lock is held then
     * @throws LockException as {@link #acquire(LockRequest)}
     */
    LockHandles acquire(List<LockRequest> requests);

    /**
     * Acquires the locks of all requests with exactly one attempt, or none. It does not queue, and does not pass
     * waiting callers.
     *
     * @param requests 1 to {@value LockLimits#MAX_KEYS}
     * @return the handles, or {@code null} when others hold one of the keys or wait for it
     */
    @Nullable
    LockHandles tryAcquire(List<LockRequest> requests);

    /**
     * Acquires the lock with exactly one attempt, whatever the wait time of the request. It does not queue, and does
     * not pass waiting callers.
     *
     * @return the handle, or {@code null} when others hold the key or wait for it; try-with-resources skips
     *     {@code null}
     */
    @Nullable
    LockHandle tryAcquire(LockRequest request);

    /**
     * Whether the server knows a live lease of the key, which has 1 to {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes.
     * The lease may be over when the answer arrives.
     */
    boolean isLocked(String key);

    /** Whether the server knows a live lease with this lock id. It may be over when the answer arrives. */
    boolean owns(String lockId);

    /**
     * Releases by lock id alone: for a process that received the lock id from another process. A handle of this process
     * is released as by {@link LockHandle#release()}. The lock of another process is released at once, whatever
     * transaction is open; a handle there detects it at its next heartbeat, or without one at its deadline.
     * Until then two may work.
     *
     * @return whether the lease was live until now. While a transaction of somebody else pins it, the release is sent
     *     again in the background, for {@code syncguard.ttl} at most
     */
    boolean release(String lockId);

    /**
     * Extends by lock id alone: the lease ends one ttl from now. A handle of this process is extended as by
     * {@link LockHandle#extend}; for others there is no heartbeat. Do not shorten the lease of a handle in another
     * process.
     *
     * @param ttl whole milliseconds from 1 ms to 365 days
     * @return the new end of the lease on the server's clock; empty when the lease is not live any more
     */
    Optional<Instant> extend(String lockId, Duration ttl);

    /**
     * The manager to which this one passes the calls of the running thread: a {@link #routing routing} manager returns
     * the one that its supplier returns now, any other manager itself. Code that calls several times, or on a thread
     * other than its caller's, calls the result. A manager of your own that passes its calls on overrides it.
     */
    default LockManager current() {
        return this;
    }

    /**
     * What operators see of these locks, and may do to them. The admin of a {@link #routing routing} manager passes
     * each call to the admin of the current manager.
     */
    LockAdmin admin();

    /**
     * A manager that passes each call to another one: for applications whose tenants have stores of their own. Locks of
     * one key in two stores have nothing to do with each other.
     *
     * <p>A handle stays in the store that granted it, whichever manager is current later. A call by lock id goes to the
     * current manager, like all others, and finds no lock of another store.
     *
     * @param current the manager for the running thread, asked once for each call, on the thread of the caller or of
     *     the subscriber. It returns the same manager each time for one store. Its exceptions reach the caller
     */
    static LockManager routing(Supplier<? extends LockManager> current) {
        return new RoutingLockManager(current);
    }

    /**
     * A manager without locks: each request is granted at once, even if others were granted its key. Nothing is ever
     * locked or lost. For unit tests of code with a manager; {@link LockOperations#withoutLocks} is for code with a
     * template. With {@code syncguard.enabled=false}, all beans of an application use it. A test that needs contention
     * or losses uses the locks in memory of {@code syncguard-spring-boot-test}.
     *
     * <p>Fences begin with 1 and grow. So a store that has seen larger ones refuses them, and is not spoilt by large
     * ones.
     */
    static LockManager withoutLocks() {
        return new WithoutLocks();
    }
}
