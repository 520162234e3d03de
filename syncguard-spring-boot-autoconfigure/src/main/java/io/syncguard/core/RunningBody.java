package io.syncguard.core;

/**
 * A thread that runs a body under a lock and is to be interrupted when the lock is lost, but not a moment after the body. For the
 * engine, and for leaders that step down.
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
     * Called by the thread itself. Takes our flag down if the body left it up: the loss is told by an exception from here
     * on, and a flag would only break the next thing that this thread does.
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
}
