package io.syncguard.concurrent;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A thread that runs a body under a lock. A loss of the lock interrupts the thread while the body runs, and never after
 * it. For the engine, and for leaders that step down.
 */
public final class RunningBody {

    /** The bodies that {@link #begin} has added. The owning thread alone uses the list, and removes it when empty. */
    private static final ThreadLocal<@Nullable List<RunningBody>> OF_THREAD = new ThreadLocal<>();

    private final Thread thread;

    /** All guarded by this. */
    private boolean ended;

    /** An exception tells the thread, or has told it. */
    private boolean informed;

    private boolean interrupted;

    /** Whether the flag of the thread may still be ours. */
    private boolean flagged;

    private boolean pending;

    private int deferrals;

    /** Whether an interrupt waits for the end of the deferrals. */
    private boolean deferred;

    public RunningBody(Thread thread) {
        this.thread = thread;
    }

    /** Called by the thread itself: {@link #deferInterrupts} concerns this body until its {@link #end}. */
    public void begin() {
        List<RunningBody> running = OF_THREAD.get();
        if (running == null) {
            running = new ArrayList<>(1);
            OF_THREAD.set(running);
        }
        running.add(this);
    }

    /**
     * Lets the running thread do what an interrupt would break halfway, such as the end of a transaction: no body
     * interrupts it any more, and a flag that one has set is cleared.
     *
     * @return ends that, on any thread. Given {@code true}, makes up for the interrupts before and meanwhile
     */
    public static Consumer<Boolean> deferInterrupts() {
        List<RunningBody> running = OF_THREAD.get();
        List<RunningBody> deferring = running == null ? List.of() : List.copyOf(running);
        deferring.forEach(RunningBody::defer);
        return interrupt -> deferring.forEach(body -> body.resume(interrupt));
    }

    /** Whether the body runs on one of these threads. */
    public synchronized boolean runsOn(Predicate<Thread> threads) {
        return !ended && threads.test(thread);
    }

    /** Interrupts the body, if it has not ended. */
    public synchronized void interrupt() {
        if (ended || informed) {
            return;
        }
        if (deferrals > 0) {
            deferred = true;
            return;
        }
        // A flag that is set already belongs to another interrupt, and our end() must not clear it.
        pending = thread.isInterrupted();
        if (!pending) {
            interrupted = true;
            flagged = true;
            thread.interrupt();
        }
    }

    /** An exception tells the running thread, so no interrupt does. Has no effect on another thread's body. */
    public synchronized void withdrawInterrupt() {
        if (thread == Thread.currentThread()) {
            informed = true;
            pending = false;
            clearFlag();
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
        clearFlag();
        List<RunningBody> running = OF_THREAD.get();
        if (running != null && running.remove(this) && running.isEmpty()) {
            OF_THREAD.remove();
        }
        return interrupted;
    }

    private synchronized void defer() {
        deferrals++;
        deferred |= clearFlag();
    }

    private synchronized void resume(boolean interrupt) {
        deferrals--;
        if (deferrals == 0 && deferred) {
            deferred = false;
            if (interrupt) {
                interrupt();
            }
        }
    }

    /** Called by the thread itself. Returns whether the flag was set, and by us. */
    private boolean clearFlag() {
        boolean cleared = flagged && Thread.interrupted();
        flagged = false;
        return cleared;
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
