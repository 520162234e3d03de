package io.syncguard.core;

import io.syncguard.LockBackendException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One caller who waits for a lock, from before its first claim until it waits no longer.
 *
 * <p>It sleeps on the caller's thread; who releases, and the thread of {@link Waiters}, tell it what has changed.
 */
final class Waiter implements AutoCloseable {

    /**
     * A waiter that is to be looked at.
     *
     * @param sleep the sleep for which the answer counts: one that began meanwhile knows better
     */
    record Look(Waiter waiter, int sleep) {}

    private final Waiters waiters;
    private final Time time;
    private final long number;
    private final Claim claim;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Guarded by the lock. Stays until the caller has seen it, who may be claiming just now. */
    private boolean woken;

    /** Guarded by the lock. */
    private @Nullable LockBackendException failure;

    /** Guarded by the lock: how often it had to sleep on while wake-ups did not arrive. */
    private int pauses;

    /** Guarded by the lock: how often it has fallen asleep, or was to be looked at anew. */
    private int sleeps;

    /** When it is to be looked at, never while it is awake. Written under the lock. */
    private volatile long lookAt = Time.NEVER;

    /** Guarded by the lock: from when on it may be looked at together with others. */
    private long lookFrom = Time.NEVER;

    Waiter(Waiters waiters, Time time, long number, Claim claim) {
        this.waiters = waiters;
        this.time = time;
        this.number = number;
        this.claim = claim;
    }

    /** What the server is asked while there is time to wait. */
    Claim claim() {
        return claim;
    }

    /**
     * Sleeps until it is worth to claim again, or the deadline has come.
     *
     * @param nextLook when that is, as far as the server knew
     * @throws LockBackendException when the server cannot be asked
     */
    void sleep(Duration nextLook, long deadline) throws InterruptedException {
        lock.lock();
        try {
            sleeps++;
            pause(nextLook);
            for (long now = time.nanoTime(); !woken && failure == null && now < deadline; now = time.nanoTime()) {
                time.await(changed, deadline - now);
            }
            woken = false;
            if (failure != null) {
                throw failed(failure);
            }
        } finally {
            doNotLook();
            lock.unlock();
        }
    }

    @Override
    public void close() {
        waiters.remove(number);
    }

    void wake() {
        change(() -> woken = true);
    }

    boolean wakeFromSleep() {
        lock.lock();
        try {
            boolean asleep = lookAt != Time.NEVER;
            wake();
            return asleep;
        } finally {
            lock.unlock();
        }
    }

    /** An answer that is still on its way may be older than the reason to look, and does not count any more. */
    void lookBy(long nanoTime) {
        change(() -> {
            if (lookAt == Time.NEVER) {
                woken = true;
            } else {
                sleeps++;
                lookAt = nanoTime;
                lookFrom = nanoTime;
            }
        });
    }

    long lookAt() {
        return lookAt;
    }

    @Nullable
    Look lookIfDue(long now) {
        lock.lock();
        try {
            return lookFrom <= now ? new Look(this, sleeps) : null;
        } finally {
            lock.unlock();
        }
    }

    void looked(int sleep, Duration nextLook) {
        change(() -> {
            if (sleep != sleeps || lookAt == Time.NEVER) {
                return;
            }
            if (nextLook.isZero()) {
                woken = true;
            } else {
                pause(nextLook);
            }
        });
    }

    void fail(LockBackendException ex) {
        change(() -> failure = ex);
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            if (woken || failure != null) {
                doNotLook();
            }
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Who has been told what it has to do: its thread may take a while to run. */
    private void doNotLook() {
        lookAt = Time.NEVER;
        lookFrom = Time.NEVER;
    }

    private void pause(Duration nextLook) {
        // Places have to be kept in any case.
        long longest = waiters.safetyPause();
        if (!waiters.wakeUpsArrive()) {
            longest = Math.min(longest, waiters.backoff(pauses++));
        }
        long pause = Math.min(nextLook.toNanos(), longest);
        long now = time.nanoTime();
        lookAt = now + pause;
        lookFrom = now + pause / 2;
        waiters.ringAt(lookAt);
    }

    private LockBackendException failed(LockBackendException ex) {
        return new LockBackendException(
                ex.code(), "Waiting for lock '" + claim.key() + "' came to an end. " + ex.getMessage(), ex.getCause());
    }
}
