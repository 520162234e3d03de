package io.syncguard.reactive;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Acquires the locks of one subscription. Cancelling the subscription interrupts the thread that waits, and locks that
 * are granted at the same time are released.
 */
final class ReactiveAcquisition {

    private final Callable<LockHandles> acquire;
    private final Runnable waitEnded;
    private final Runnable notTaken;
    private final MonoSink<Grant> sink;

    /** The thread that acquires the lock, while it does so. Guarded by this object. */
    private @Nullable Thread acquiring;

    /** Guarded by this object. */
    private boolean cancelled;

    /** Whether the acquisition was interrupted to be repeated. Guarded by this object. */
    private boolean repeats;

    /**
     * @param waitEnded runs when the locks are granted or refused, at least once
     * @param notTaken runs if the subscription does not take locks that were granted
     */
    ReactiveAcquisition(Callable<LockHandles> acquire, Runnable waitEnded, Runnable notTaken, MonoSink<Grant> sink) {
        this.acquire = acquire;
        this.waitEnded = waitEnded;
        this.notTaken = notTaken;
        this.sink = sink;
    }

    /** Submits the acquisition. If that fails, the subscription gets the failure as its error. */
    void on(ReactiveThreads threads) {
        sink.onCancel(this::cancel);
        try {
            // Not through a Scheduler of Reactor, which treats a lack of threads as its shutdown.
            threads.acquisitions().execute(Schedulers.onSchedule(this::run));
        } catch (RejectedExecutionException ex) {
            fail(
                    threads.haveEnded()
                            ? new LockException(
                                    LockErrorCode.ABORTED,
                                    "No new locks, the executor of acquisitions has been shut down",
                                    ex)
                            : new LockBackendException(
                                    LockErrorCode.RATE_LIMITED,
                                    "The executor has no thread for an acquisition. Give it more threads",
                                    ex));
        } catch (Throwable ex) {
            fail(ex);
        }
    }

    private void fail(Throwable failure) {
        waitEnded.run();
        sink.error(failure);
    }

    private void run() {
        LockHandles locks;
        try {
            if (!begins()) {
                return;
            }
            locks = acquire();
        } catch (Throwable ex) {
            if (!isCancelledAtEnd()) {
                waitEnded.run();
                sink.error(Exceptions.unwrap(ex));
            }
            return;
        } finally {
            waitEnded.run();
        }
        Grant grant = new Grant(locks);
        try {
            if (!isCancelledAtEnd()) {
                sink.success(grant);
            }
        } finally {
            grant.handedOver();
        }
        if (!grant.isTaken()) {
            locks.all().forEach(LockHandle::release);
            notTaken.run();
        }
    }

    private LockHandles acquire() throws Exception {
        while (true) {
            try {
                return acquire.call();
            } catch (Throwable ex) {
                if (!isRepeated()) {
                    throw ex;
                }
            }
        }
    }

    /** Interrupts the wait and begins again. Returns {@code false} if there is no wait. */
    synchronized boolean repeat() {
        if (acquiring == null || cancelled) {
            return false;
        }
        repeats = true;
        acquiring.interrupt();
        return true;
    }

    private synchronized boolean isRepeated() {
        boolean repeated = repeats && !cancelled;
        if (repeated) {
            repeats = false;
            Thread.interrupted();
        }
        return repeated;
    }

    private synchronized boolean begins() {
        acquiring = cancelled ? null : Thread.currentThread();
        return !cancelled;
    }

    /** From here on, a cancellation does not interrupt the thread, which returns to its pool. */
    private synchronized boolean isCancelledAtEnd() {
        acquiring = null;
        if (cancelled || repeats) {
            Thread.interrupted();
        }
        return cancelled;
    }

    private synchronized void cancel() {
        cancelled = true;
        if (acquiring == null) {
            waitEnded.run();
        } else {
            acquiring.interrupt();
        }
    }
}
