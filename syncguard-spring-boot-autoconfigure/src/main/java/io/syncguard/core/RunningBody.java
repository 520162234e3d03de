package io.syncguard.core;

/**
 * A thread that runs a body under a lock and is to be interrupted when the lock is lost, but not a moment after the body.
 */
final class RunningBody {

    private final Thread thread;

    /** Both guarded by this. */
    private boolean ended;

    private boolean interrupted;

    RunningBody(Thread thread) {
        this.thread = thread;
    }

    synchronized void interrupt() {
        // A flag that is up already is somebody else's, and theirs to take down.
        if (!ended && !thread.isInterrupted()) {
            interrupted = true;
            thread.interrupt();
        }
    }

    /**
     * Called by the thread itself. Takes our flag down if the body left it up: the loss is told by an exception from here
     * on, and a flag would only break the next thing that this thread does.
     */
    synchronized void end() {
        ended = true;
        if (interrupted) {
            Thread.interrupted();
        }
    }
}
