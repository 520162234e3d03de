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
    private final Claim claim;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Guarded by the lock: the number of the last claim. */
    private long number;

    /** Guarded by the lock. Stays until the caller has seen it, who may be claiming just now. */
    private boolean woken;

    /** Guarded by the lock: what a release has made of the place. */
    private Attempt.@Nullable Grant handedOver;

    /** Guarded by the lock. */
    private @Nullable LockBackendException failure;

    /** Guarded by the lock: how often it had to sleep on while wake-ups did not arrive. */
    private int pauses;

    /** Guarded by the lock: how often it has fallen asleep, or was to be looked at anew. */
    private int sleeps;

    /** Written under the lock. */
    private volatile long confirmedAt;

    /** When it is to be looked at, never while it is awake. Written under the lock. */
    private volatile long lookAt = Time.NEVER;

    /** Guarded by the lock: from when on it may be looked at together with others. */
    private long lookFrom = Time.NEVER;

    Waiter(Waiters waiters, Time time, Claim claim) {
        this.waiters = waiters;
        this.time = time;
        this.claim = claim;
    }

    Claim claim() {
        return claim;
    }

    /**
     * What the server is asked next, while there is time to wait. The claim has a number of its own, and news for earlier ones
     * do not count any more: it finds what they tell, and a place that it takes anew knows nothing of the one before.
     */
    Claim nextClaim() {
        long next = waiters.add(this);
        lock.lock();
        try {
            waiters.remove(number);
            number = next;
            handedOver = null;
        } finally {
            lock.unlock();
        }
        return claim.waitingAs(next);
    }

    /**
     * The time before the last request was sent whose answer was that the place was there. What a release has made of it is
     * younger.
     */
    long confirmedAt() {
        return confirmedAt;
    }

    /**
     * Sleeps until the key was handed over, or it is worth to claim again, or the deadline has come.
     *
     * @param sentAt the time before the claim was sent that got the place, or kept it
     * @param nextLook when it is worth to claim again, as far as the server knew
     * @return what was handed over, once
     * @throws LockBackendException when the server cannot be asked
     */
    Attempt.@Nullable Grant sleep(long sentAt, Duration nextLook, long deadline) throws InterruptedException {
        lock.lock();
        try {
            confirmedAt = sentAt;
            sleeps++;
            pause(nextLook);
            for (long now = time.nanoTime(); !isTold() && now < deadline; now = time.nanoTime()) {
                time.await(changed, deadline - now);
            }
            Attempt.Grant grant = handedOver;
            handedOver = null;
            woken = false;
            if (grant == null && failure != null) {
                throw failed(failure);
            }
            return grant;
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

    /** The first message counts. Whoever hears it on the channel knows its secret, and could send another. */
    void handOver(long number, Attempt.Grant grant) {
        change(() -> handedOver = number == this.number && handedOver == null ? grant : handedOver);
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

    void looked(int sleep, long sentAt, Duration nextLook) {
        change(() -> {
            if (!nextLook.isZero()) {
                confirmedAt = sentAt;
            }
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
            if (isTold()) {
                doNotLook();
            }
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private boolean isTold() {
        return woken || handedOver != null || failure != null;
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
