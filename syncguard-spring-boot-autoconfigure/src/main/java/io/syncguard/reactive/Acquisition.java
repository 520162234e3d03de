package io.syncguard.reactive;

import io.syncguard.LockHandle;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * Acquires a lock for one subscription. Cancelling the subscription interrupts the thread that waits, and a lock that
 * is granted at the same time is released.
 */
final class Acquisition implements Runnable {

    private final Callable<LockHandle> acquire;
    private final MonoSink<Grant> sink;

    /** The thread that acquires, while it does. Guarded by this object. */
    private @Nullable Thread acquiring;

    /** Guarded by this object. */
    private boolean cancelled;

    Acquisition(Callable<LockHandle> acquire, MonoSink<Grant> sink) {
        this.acquire = acquire;
        this.sink = sink;
    }

    /** A failure to run it at all is the error of the subscription. */
    void on(Scheduler threads) {
        sink.onCancel(this::cancel);
        try {
            threads.schedule(this);
        } catch (RuntimeException | Error ex) {
            // Also a lack of threads, which Reactor takes for a reason to end the virtual machine.
            sink.error(ex);
        }
    }

    @Override
    public void run() {
        if (!begins()) {
            return;
        }
        LockHandle lock;
        try {
            lock = acquire.call();
        } catch (Throwable ex) {
            if (!isCancelledAtEnd()) {
                sink.error(Exceptions.unwrap(ex));
            }
            return;
        }
        Grant grant = new Grant(lock);
        try {
            if (!isCancelledAtEnd()) {
                sink.success(grant);
            }
        } finally {
            grant.handedOver();
        }
        if (!grant.isTaken()) {
            lock.release();
        }
    }

    private synchronized boolean begins() {
        acquiring = cancelled ? null : Thread.currentThread();
        return !cancelled;
    }

    /** From here on nobody interrupts the thread, which is back in its pool soon. */
    private synchronized boolean isCancelledAtEnd() {
        acquiring = null;
        if (cancelled) {
            Thread.interrupted();
        }
        return cancelled;
    }

    private synchronized void cancel() {
        cancelled = true;
        if (acquiring != null) {
            acquiring.interrupt();
        }
    }
}
