package io.syncguard.leader;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Whether this process takes part in an election, and the term in which it leads. Thread-safe.
 *
 * <p>A process takes part while its application runs and it has joined. It campaigns while it takes part and is not
 * paused. A term begins only while it campaigns, and each method that ends the campaign then ends the term. So this
 * process does not lead any more when such a method returns.
 */
final class Membership {

    private final Runnable changed;
    private final ReentrantLock lock = new ReentrantLock();

    /** Whether the application runs. Written under the lock and read without it, like all that follows. */
    private volatile boolean open;

    private volatile boolean joined;

    private volatile boolean paused;

    private volatile @Nullable LeaderTerm term;

    /**
     * @param changed runs under the lock after each change, and must not ask for another change. If it fails, {@link
     *     #open} or {@link #join} is undone
     */
    Membership(Runnable changed) {
        this.changed = changed;
    }

    boolean takesPart() {
        return open && joined;
    }

    boolean isOpen() {
        return open;
    }

    boolean isJoined() {
        return joined;
    }

    boolean isPaused() {
        return paused;
    }

    boolean isCampaigning() {
        return takesPart() && !paused;
    }

    /** The term in which this process leads, or led last. */
    @Nullable
    LeaderTerm term() {
        return term;
    }

    /** The application runs. */
    void open() {
        change(() -> open = true, () -> open = false);
    }

    /** The application stops. */
    void close() {
        change(() -> open = false);
        stepDown(LeaderRevocation.SHUTDOWN);
    }

    /**
     * Takes part, unless this process has joined already.
     *
     * @param prepare runs before; if it fails, this process has not joined
     * @param announce runs after, before any term can begin
     */
    void join(Runnable prepare, Runnable announce) {
        lock.lock();
        try {
            if (!joined) {
                prepare.run();
                change(() -> joined = true, () -> joined = false);
                announce.run();
            }
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        change(() -> joined = false);
        stepDown(LeaderRevocation.LEFT);
    }

    void pause() {
        change(() -> paused = true);
        stepDown(LeaderRevocation.PAUSED);
    }

    void resume() {
        change(() -> paused = false);
    }

    void resign() {
        stepDown(LeaderRevocation.RESIGNED);
    }

    /**
     * Begins a term.
     *
     * @return whether it began: not if this process does not campaign any more
     */
    boolean begin(LeaderTerm next) {
        lock.lock();
        try {
            if (!isCampaigning()) {
                return false;
            }
            next.begin(() -> term = next);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        change(change, () -> {});
    }

    private void change(Runnable change, Runnable undo) {
        lock.lock();
        try {
            change.run();
            changed.run();
        } catch (Throwable ex) {
            undo.run();
            throw ex;
        } finally {
            lock.unlock();
        }
    }

    /** Without the lock: it interrupts bodies and cancels futures, which is code of the application. */
    private void stepDown(LeaderRevocation reason) {
        LeaderTerm current = term;
        if (current != null) {
            current.stepDown(reason);
        }
    }
}
