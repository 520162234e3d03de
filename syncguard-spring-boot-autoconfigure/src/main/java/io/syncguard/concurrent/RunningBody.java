package io.syncguard.concurrent;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * A thread that runs a body under a lock and is to be interrupted when the lock is lost, but not a moment after the
 * body. For the engine, and for leaders that step down.
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

    /** Interrupts the body, if it has not ended. */
    public synchronized void interrupt() {
        // A flag that is up already is somebody else's, and theirs to take down.
        pending = !ended && thread.isInterrupted();
        if (!ended && !pending) {
            interrupted = true;
            thread.interrupt();
        }
    }

    /** The flag of a body inside of this one, behind which our interrupt was not seen, is down. */
    public synchronized void interruptIfPending() {
        if (pending) {
            interrupt();
        }
    }

    /**
     * Whether the running thread failed because of the interrupt that it got from here, and not by itself or by an
     * interrupt of somebody else. A loss that the body tells itself needs no other.
     */
    public synchronized boolean explains(Throwable failure) {
        return interrupted
                && thread == Thread.currentThread()
                && !(failure instanceof LockLostException)
                && isOfInterrupt(failure);
    }

    /**
     * Called by the thread itself. Takes our flag down if the body left it up: the loss is told by an exception from
     * here on, and a flag would only break the next thing that this thread does.
     *
     * @return whether this body was interrupted: its flag may have hidden that of a body around it
     */
    public synchronized boolean end() {
        ended = true;
        if (interrupted) {
            Thread.interrupted();
        }
        return interrupted;
    }

    private static boolean isOfInterrupt(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
            if (isInterrupt(each)) {
                return true;
            }
        }
        return false;
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
