package io.syncguard.concurrent;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/**
 * The only type that reads a clock or blocks for a time. Tests pass a manual clock.
 *
 * <p>The clock is monotonic and starts near zero, so that readings compare with {@code <} and {@link #NEVER} is later
 * than all of them.
 */
public interface Time {

    /** Later than every reading. */
    long NEVER = Long.MAX_VALUE;

    /** The clock of the machine. */
    Time SYSTEM = new Time() {
        private final long origin = System.nanoTime();

        @Override
        public long nanoTime() {
            return System.nanoTime() - origin;
        }

        @Override
        public void await(Condition condition, long nanos) throws InterruptedException {
            // Not used: the caller checks the clock and its state again.
            var unused = condition.awaitNanos(nanos);
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
    };

    /** How long {@link #awaitUntil} and {@link #awaitUninterrupted} rely on a signal. */
    long LONGEST_AWAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The nanoseconds since an arbitrary moment. */
    long nanoTime();

    /** Waits for the condition, whose lock is held, for at most this time. May return early without a reason. */
    void await(Condition condition, long nanos) throws InterruptedException;

    /**
     * Waits until this is true, for this duration at most. An interrupt ends the wait, and its flag stays set.
     *
     * @param changed a condition of the lock, signalled after changes
     * @param done read under the lock, at least ten times a second: it may turn true without a signal
     */
    default void awaitUntil(BooleanSupplier done, Lock lock, Condition changed, Duration atMost) {
        long deadline = nanoTime() + atMost.toNanos();
        lock.lock();
        try {
            for (long now = nanoTime(); !done.getAsBoolean() && now < deadline; now = nanoTime()) {
                await(changed, Math.min(deadline - now, LONGEST_AWAIT_NANOS));
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Like {@link #awaitUntil}, but no interrupt ends the wait. A flag that was set before or meanwhile is set
     * afterwards.
     */
    default void awaitUninterrupted(BooleanSupplier done, Lock lock, Condition changed, Duration atMost) {
        long deadline = nanoTime() + atMost.toNanos();
        boolean interrupted = false;
        lock.lock();
        try {
            for (long now = nanoTime(); !done.getAsBoolean() && now < deadline; now = nanoTime()) {
                try {
                    await(changed, Math.min(deadline - now, LONGEST_AWAIT_NANOS));
                } catch (InterruptedException ex) {
                    interrupted = true;
                }
            }
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sleeps for this time. */
    void sleep(long nanos) throws InterruptedException;
}
