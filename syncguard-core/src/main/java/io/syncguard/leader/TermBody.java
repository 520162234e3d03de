package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.concurrent.RunningBody;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs under a term and may end on another thread, such as a method with {@link LeaderOnly} that returns a
 * future. The lock of the term is not released before the body has ended. The thread that begins it calls
 * {@link #call}; any thread may call {@link #end}.
 */
public final class TermBody implements AutoCloseable {

    private final String election;
    private final LockHandle lock;
    private final Hook hook;

    /** The thread that began it, to be interrupted when the leader steps down. On a loss the lock interrupts it. */
    private final RunningBody running = new RunningBody(Thread.currentThread());

    /** Set by the thread of the body if the result is a future; read by the thread that ends the term. */
    private volatile @Nullable Runnable onEnd;

    TermBody(String election, LockHandle lock, Hook hook) {
        this.election = election;
        this.lock = lock;
        this.hook = hook;
    }

    /**
     * Calls the body on the thread that began it.
     *
     * @throws LockLostException when the body fails because the end of the term interrupted it
     */
    public <T extends @Nullable Object> T call(Callable<T> body) throws Exception {
        running.begin();
        try {
            return lock.bind(body).call();
        } catch (Throwable failure) {
            if (running.explains(failure)) {
                throw over(lock.isHeld(), failure);
            }
            throw failure;
        } finally {
            endThread();
        }
    }

    /** Runs the callback when the term ends before the future of the body is done. */
    public void onEnd(Runnable callback) {
        onEnd = callback;
        if (!hook.isLeader()) {
            callback.run();
        }
    }

    /** The leader steps down, and holds the lock until all bodies have ended. */
    void stepDown() {
        running.interrupt();
        runCallback();
    }

    /** The leader steps down at the end of the application. A body that asked for that end is not interrupted. */
    void shutDown() {
        if (!runsOn(Thread.currentThread()::equals)) {
            running.interrupt();
        }
        runCallback();
    }

    boolean runsOn(Predicate<Thread> threads) {
        return running.runsOn(threads);
    }

    /** The lock is lost, and has interrupted the thread. */
    void lost() {
        runCallback();
    }

    void interruptIfPending() {
        running.interruptIfPending();
    }

    /**
     * Ends the body.
     *
     * @throws LockLostException when the lock was lost or released before
     */
    @Override
    public void close() {
        end(null);
    }

    /**
     * Ends the body.
     *
     * @param cancelled the failure of the body's future if the end of the term cancelled it, else {@code null}
     * @throws LockLostException when the lock was lost or released before, or the future was cancelled
     */
    public void end(@Nullable Throwable cancelled) {
        boolean wasHeld = lock.isHeld();
        hook.ended(this);
        if (!wasHeld || cancelled != null) {
            throw over(wasHeld, cancelled);
        }
    }

    /** A leader that steps down still holds the lock while its bodies end. */
    private LockLostException over(boolean held, @Nullable Throwable cause) {
        String leadership = "Leadership '" + election + "' ended ";
        LockLostException loss = lock.loss();
        if (loss != null) {
            return loss.as(leadership + "before its work did. " + loss.getMessage(), cause);
        }
        return new LockLostException(
                lock.key(),
                LockReason.RELEASED,
                leadership
                        + (held
                                ? "while its work was under way, which was interrupted and is not finished. No other"
                                        + " leader worked beside it"
                                : "before its work did, because its lock was released. Another leader may have worked"
                                        + " at the same time: check what the work did last"),
                cause);
    }

    private void endThread() {
        if (running.end()) {
            hook.threadInterrupted();
        }
    }

    private void runCallback() {
        Runnable callback = onEnd;
        if (callback != null) {
            callback.run();
        }
    }

    /** What a body needs of its term, and what it reports. */
    interface Hook {

        boolean isLeader();

        /** The body has ended after an interrupt. A body around it on the same thread may need an interrupt, too. */
        void threadInterrupted();

        void ended(TermBody body);
    }
}
