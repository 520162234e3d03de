package io.syncguard.leader;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Whether the server has answered a campaign, so that the member knows whether it leads. Thread-safe. */
final class FirstDecision {

    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** When the campaign began, on the clock; {@code null} while there is none. Guarded by the lock. */
    private @Nullable Long began;

    /** Guarded by the lock. */
    private boolean made;

    FirstDecision(Time time) {
        this.time = time;
    }

    /** Called after each change of the membership. */
    void follow(boolean campaigning) {
        lock.lock();
        try {
            if (!campaigning) {
                began = null;
                made = false;
                changed.signalAll();
            } else if (began == null) {
                began = time.nanoTime();
            }
        } finally {
            lock.unlock();
        }
    }

    /** An attempt was granted or refused. */
    void make() {
        lock.lock();
        try {
            made = began != null;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isMade() {
        lock.lock();
        try {
            return made;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the decision. An interrupt ends the wait, and so does the end of the campaign.
     *
     * @param timeout counts from the beginning of the campaign
     * @return whether it is decided; a member that does not campaign does not lead
     */
    boolean await(Duration timeout) {
        lock.lock();
        try {
            while (began != null && !made) {
                long left = began + timeout.toNanos() - time.nanoTime();
                if (left <= 0) {
                    return false;
                }
                time.await(changed, left);
            }
            return true;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
