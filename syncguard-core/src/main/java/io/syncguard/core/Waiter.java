package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One caller who waits for a lock, from before its first request until it waits no longer.
 *
 * <p>It sleeps on the caller's thread. Wake-ups and the safety poll of {@link WaiterRegistry} notify it on other
 * threads.
 */
final class Waiter implements AutoCloseable {

    /**
     * The safety poll for one waiter.
     *
     * @param sleep the sleep for which the answer counts; a later sleep has a poll of its own
     */
    record Poll(Waiter waiter, int sleep) {}

    private final WaiterRegistry waiters;
    private final Time time;
    private final AcquireRequest request;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Guarded by the lock: the number of the last request. */
    private long number;

    /** Guarded by the lock. Stays set until the caller has seen it: its request may be under way. */
    private boolean woken;

    /** Guarded by the lock. Stays set until the caller has seen it, like the wake-up. */
    private boolean aborted;

    /** Guarded by the lock: the grant that a release made of the queue entry. */
    private AcquireResult.@Nullable Granted handedOver;

    /** Guarded by the lock. */
    private @Nullable LockBackendException failure;

    /** Guarded by the lock: how many polls it had while wake-ups did not arrive. */
    private int retries;

    /** Guarded by the lock: how many polls have failed in succession. */
    private int failedPolls;

    /** Guarded by the lock: the number of the sleep. A reason for another poll counts as another sleep. */
    private int sleeps;

    /** Written under the lock. */
    private volatile long confirmedAt;

    /** Whether it may have a queue entry. Written by the caller. */
    private volatile boolean queued;

    /** When the safety poll is due, never while the caller is awake. Written under the lock. */
    private volatile long pollAt = Time.NEVER;

    /** Guarded by the lock: from when on it is polled along with others. */
    private long pollFrom = Time.NEVER;

    Waiter(WaiterRegistry waiters, Time time, AcquireRequest request) {
        this.waiters = waiters;
        this.time = time;
        this.request = request;
    }

    String key() {
        return request.key();
    }

    String lockId() {
        return request.lockId();
    }

    KeyedLockId keyedLockId() {
        return request.keyedLockId();
    }

    /** The caller has got a queue entry. */
    void queued() {
        queued = true;
    }

    boolean isQueued() {
        return queued;
    }

    /**
     * The next request, while there is time to wait. It has a number of its own. Wake-ups for earlier requests do not
     * count any more: this request finds what they report, and its queue entry may be a new one.
     */
    AcquireRequest nextRequest() {
        long next = waiters.add(this);
        lock.lock();
        try {
            waiters.remove(number);
            number = next;
            handedOver = null;
        } finally {
            lock.unlock();
        }
        return request.waitingAs(next);
    }

    /**
     * The time before the last request was sent that confirmed the queue entry. A grant that a release made of the
     * entry is younger.
     */
    long confirmedAt() {
        return confirmedAt;
    }

    /**
     * Sleeps until the key was handed over, a new request is due, or the deadline has come.
     *
     * @param sentAt the time before the request was sent that got the queue entry, or renewed it
     * @param nextLook when a new request is due, as far as the server knows
     * @return the grant of a hand-over, which is returned once
     * @throws LockBackendException when the safety poll failed, and no retry mends that
     */
    AcquireResult.@Nullable Granted sleep(long sentAt, Duration nextLook, long deadline) throws InterruptedException {
        lock.lock();
        try {
            confirmedAt = sentAt;
            sleeps++;
            schedulePoll(nextLook);
            return awaitNotice(deadline);
        } finally {
            stopSafetyPoll();
            lock.unlock();
        }
    }

    /**
     * Sleeps after a request that failed, for this time at most and without safety polls: the next request is due then.
     */
    AcquireResult.@Nullable Granted pause(long nanos, long deadline) throws InterruptedException {
        lock.lock();
        try {
            return awaitNotice(Math.min(time.nanoTime() + nanos, deadline));
        } finally {
            lock.unlock();
        }
    }

    private AcquireResult.@Nullable Granted awaitNotice(long until) throws InterruptedException {
        for (long now = time.nanoTime(); !isNotified() && now < until; now = time.nanoTime()) {
            time.await(changed, until - now);
        }
        AcquireResult.Granted grant = handedOver;
        handedOver = null;
        woken = false;
        if (grant == null && failure != null) {
            throw failed(failure);
        }
        return grant;
    }

    @Override
    public void close() {
        waiters.remove(number);
    }

    void wake() {
        change(() -> woken = true);
    }

    /** The first message counts. A reader of the channel knows its secret, and could send another. */
    void handOver(long number, AcquireResult.Granted grant) {
        change(() -> {
            if (number == this.number && handedOver == null) {
                handedOver = grant;
            }
        });
    }

    /** The caller has to give up, unless it holds a lock. */
    void abort() {
        change(() -> aborted = true);
    }

    /** Whether it was aborted since the last call. */
    boolean takeAbort() {
        lock.lock();
        try {
            boolean taken = aborted;
            aborted = false;
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the caller. Returns whether it slept. */
    boolean wakeFromSleep() {
        lock.lock();
        try {
            boolean asleep = pollAt != Time.NEVER;
            wake();
            return asleep;
        } finally {
            lock.unlock();
        }
    }

    /** Schedules a poll. The answer to an earlier poll does not count: it may be older than the reason for this one. */
    void pollBy(long nanoTime) {
        change(() -> {
            if (pollAt == Time.NEVER) {
                woken = true;
            } else {
                sleeps++;
                pollAt = nanoTime;
                pollFrom = nanoTime;
            }
        });
    }

    long pollAt() {
        return pollAt;
    }

    /** The poll that is sent now, alone or along with others. */
    @Nullable
    Poll pollIfDue(long now) {
        lock.lock();
        try {
            return pollFrom <= now ? new Poll(this, sleeps) : null;
        } finally {
            lock.unlock();
        }
    }

    void polled(int sleep, long sentAt, Duration nextLook) {
        change(() -> {
            failedPolls = 0;
            if (!nextLook.isZero()) {
                confirmedAt = sentAt;
            }
            if (sleep != sleeps || pollAt == Time.NEVER) {
                return;
            }
            if (nextLook.isZero()) {
                woken = true;
            } else {
                schedulePoll(nextLook);
            }
        });
    }

    /** The poll failed. It is repeated, unless no retry mends the error. */
    void pollFailed(int sleep, LockBackendException ex) {
        change(() -> {
            if (!ex.code().isTransient()) {
                failure = ex;
            } else if (sleep == sleeps && pollAt != Time.NEVER) {
                schedulePoll(Duration.ofNanos(waiters.retryPause(failedPolls++)));
            }
        });
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            if (isNotified()) {
                stopSafetyPoll();
            }
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private boolean isNotified() {
        return woken || aborted || handedOver != null || failure != null;
    }

    /** A waiter that was notified needs no poll, even if its thread does not run at once. */
    private void stopSafetyPoll() {
        pollAt = Time.NEVER;
        pollFrom = Time.NEVER;
    }

    private void schedulePoll(Duration nextLook) {
        // Queue entries have to be renewed in any case.
        long longest = waiters.safetyPollPause();
        if (!waiters.wakeUpsArrive()) {
            longest = Math.min(longest, waiters.retryPause(retries++));
        }
        long pause = Math.min(nextLook.toNanos(), longest);
        long now = time.nanoTime();
        pollAt = now + pause;
        pollFrom = now + pause / 2;
        waiters.schedule(pollAt);
    }

    private LockBackendException failed(LockBackendException ex) {
        return new LockBackendException(
                ex.code(),
                "Waiting for lock '" + request.key() + "' came to an end. " + ex.getMessage(),
                ex.getCause());
    }
}
