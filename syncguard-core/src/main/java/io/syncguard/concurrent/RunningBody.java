package io.syncguard.concurrent;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.function.Predicate;

/**
 * A thread that runs a body under a lock. A loss of the lock interrupts the thread while the body runs, and never after
 * it. For the engine, and for leaders that step down.
 */
public final class RunningBody {

    private final Thread thread;

    /** All guarded by this. */
    private boolean ended;

    private boolean interrupted;

    private boolean pending;

    public RunningBody(Thread thread) {
        this.thread = thread;
    }

    /** Whether the body runs on one of these threads. */
    public synchronized boolean runsOn(Predicate<Thread> threads) {
        return !ended && threads.test(thread);
    }

    /** Interrupts the body, if it has not ended. */
    public synchronized void interrupt() {
        // A flag that is set already belongs to another interrupt, and our end() must not clear it.
        pending = !ended && thread.isInterrupted();
        if (!ended && !pending) {
            interrupted = true;
            thread.interrupt();
        }
    }

    /**
     * Interrupts the thread if {@link #interrupt} could not, because the flag of a nested body was set. That body has
     * ended.
     */
    public synchronized void interruptIfPending() {
        if (pending) {
            interrupt();
        }
    }

    /**
     * Whether the failure on the running thread comes from the interrupt by this object. A {@link LockLostException}
     * does not: the body reports a loss itself.
     */
    public synchronized boolean explains(Throwable failure) {
        return interrupted
                && thread == Thread.currentThread()
                && !(failure instanceof LockLostException)
                && isOfInterrupt(failure);
    }

    /**
     * Called by the thread itself. Clears our flag if the body left it set: an exception reports the loss from here on,
     * and the flag would break the next work of the thread.
     *
     * @return whether this body was interrupted: a body around it may have missed its interrupt meanwhile
     */
    public synchronized boolean end() {
        ended = true;
        if (interrupted) {
            Thread.interrupted();
        }
        return interrupted;
    }

    private static boolean isOfInterrupt(Throwable failure) {
        return Chain.causes(failure).anyMatch(RunningBody::isInterrupt);
    }

    private static boolean isInterrupt(Throwable failure) {
        return failure instanceof InterruptedException
                || failure instanceof ClosedByInterruptException
                || failure instanceof FileLockInterruptionException
                // Its subclasses are timeouts.
                || failure.getClass() == InterruptedIOException.class
                // The JDK has no type for a virtual thread that is interrupted in a socket.
                || failure instanceof SocketException && "Closed by interrupt".equals(failure.getMessage())
                || failure instanceof LockException refused && refused.code() == LockErrorCode.ABORTED;
    }
}
