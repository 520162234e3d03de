package io.syncguard.integration;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.OneLine;
import io.syncguard.integration.ThreadLocks.HeldLock;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * One key of a registry. Thread-safe. It has no state: what a thread holds is in {@link ThreadLocks}. So the locks of a
 * key are equal.
 *
 * <p>The engine also queues the threads of one process. So there is no local lock in front of it.
 */
final class RegistryLock implements DistributedLock {

    private static final Log log = LogFactory.getLog(RegistryLock.class);

    private final LockManager manager;
    private final ThreadLocks held;
    private final LockRequest request;
    private final Duration ttl;

    /** @param ttl the ttl for the methods without one */
    RegistryLock(LockManager manager, ThreadLocks held, LockRequest request, Duration ttl) {
        this.manager = manager;
        this.held = held;
        this.request = request;
        this.ttl = ttl;
    }

    @Override
    public void lock() {
        lock(ttl);
    }

    @Override
    public void lock(Duration ttl) {
        LockRequest patient = patient(ttl);
        LockManager store = current();
        if (!lockAgain(store)) {
            held.add(uninterrupted(() -> acquire(patient, store)), store);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        requireNoInterrupt();
        LockManager store = current();
        if (!lockAgain(store)) {
            held.add(interruptibly(() -> acquire(patient(ttl), store)), store);
        }
    }

    @Override
    public boolean tryLock() {
        LockManager store = current();
        return lockAgain(store) || add(uninterrupted(() -> store.tryAcquire(request.ttl(ttl))), store);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Duration.ofNanos(unit.toNanos(time)), ttl);
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        LockRequest timed = request.ttl(ttl).waitExactly(withinLimits(waitTime));
        requireNoInterrupt();
        LockManager store = current();
        return lockAgain(store) || add(interruptibly(() -> acquireInTime(timed, store)), store);
    }

    /**
     * Unlocks once. The last unlock releases the lease.
     *
     * @throws IllegalMonitorStateException if the thread does not hold the lock
     * @throws ConcurrentModificationException if the lock was lost before, or released by other code
     */
    @Override
    public void unlock() {
        HeldLock own = own();
        if (own.unlock()) {
            held.remove(own);
            release(own.handle());
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions");
    }

    /**
     * Extends the lease of the running thread.
     *
     * @param ttl the ttl, unless the settings of the name have another one
     * @return whether the lease is still held
     */
    boolean renew(Duration ttl) {
        return own().handle().extendAs(request.ttl(ttl));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RegistryLock lock
                && held == lock.held
                && request.key().equals(lock.request.key());
    }

    @Override
    public int hashCode() {
        return request.key().hashCode();
    }

    @Override
    public String toString() {
        return OneLine.of("lock '" + request.key() + "'");
    }

    private void release(LockHandle handle) {
        if (handle.state() == LockHandle.State.RELEASED) {
            throw new ConcurrentModificationException("It was released before this thread unlocked it, by its lock id"
                    + " or at the end of a transaction in which it had been unlocked once: " + this);
        }
        try {
            handle.close();
        } catch (LockLostException ex) {
            throw new ConcurrentModificationException(ex.getMessage(), ex);
        }
    }

    /**
     * Returns the lock in the current store, otherwise the one that the thread was granted last, so that an unlock
     * frees one in any case.
     */
    private HeldLock own() {
        HeldLock innermost = held.innermost(request.key());
        if (innermost == null) {
            throw new IllegalMonitorStateException("This thread does not hold " + this);
        }
        try {
            HeldLock current = held.find(request.key(), current());
            return current == null ? innermost : current;
        } catch (RuntimeException ex) {
            log.debug("No store is current for " + this, ex);
            return innermost;
        }
    }

    /**
     * Locks a lock again that the thread holds in this store, without asking the server.
     *
     * @return whether the thread holds it
     * @throws LockLostException if it was lost. A thread that got a new lease would have to unlock it as often as it
     *     locked the old one
     */
    private boolean lockAgain(LockManager store) {
        HeldLock own = held.find(request.key(), store);
        if (own == null) {
            return false;
        }
        if (!own.handle().isHeld()) {
            throw notHeld(own.handle());
        }
        own.lockAgain();
        return true;
    }

    private LockLostException notHeld(LockHandle handle) {
        String problem =
                "Lock '" + request.key() + "' is not held any more, and this thread has not unlocked it: unlock"
                        + " it before you lock it again";
        LockLostException loss = handle.loss();
        return loss == null
                ? new LockLostException(request.key(), LockReason.RELEASED, problem, null)
                : loss.as(problem + ". " + loss.getMessage(), null);
    }

    private LockManager current() {
        return LockSetupException.requireAnswer("LockManager.current", manager.current());
    }

    private static LockHandle acquire(LockRequest request, LockManager store) {
        return LockSetupException.requireAnswer("LockManager.acquire", store.acquire(request));
    }

    private boolean add(@Nullable LockHandle handle, LockManager store) {
        if (handle != null) {
            held.add(handle, store);
        }
        return handle != null;
    }

    private static @Nullable LockHandle acquireInTime(LockRequest timed, LockManager store) {
        try {
            return acquire(timed, store);
        } catch (LockNotAcquiredException ex) {
            return null;
        }
    }

    private LockRequest patient(Duration ttl) {
        return request.ttl(ttl).waitExactly(LockLimits.MAX_DURATION);
    }

    private static Duration withinLimits(Duration waitTime) {
        if (waitTime.isNegative()) {
            return Duration.ZERO;
        }
        return waitTime.compareTo(LockLimits.MAX_DURATION) > 0 ? LockLimits.MAX_DURATION : waitTime;
    }

    private static void requireNoInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private static <T extends @Nullable Object> T interruptibly(Supplier<T> acquisition) throws InterruptedException {
        try {
            return acquisition.get();
        } catch (LockException ex) {
            if (ex.code() == LockErrorCode.ABORTED && Thread.interrupted()) {
                InterruptedException interrupted = new InterruptedException(ex.getMessage());
                interrupted.initCause(ex);
                throw interrupted;
            }
            throw ex;
        }
    }

    /** Repeats an acquisition that an interrupt has ended, from the end of the queue. */
    private static <T extends @Nullable Object> T uninterrupted(Supplier<T> acquisition) {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    return acquisition.get();
                } catch (LockException ex) {
                    if (!Thread.currentThread().isInterrupted()) {
                        throw ex;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
