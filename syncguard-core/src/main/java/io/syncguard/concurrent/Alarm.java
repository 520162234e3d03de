package io.syncguard.concurrent;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * One daemon thread that runs one task when it is due. The task returns the time of its next run; any thread may set an
 * earlier one. The thread sleeps until then. For the engine, and for background work of the backends.
 */
public final class Alarm implements AutoCloseable {

    private static final Log log = LogFactory.getLog(Alarm.class);

    /** The pause after an unexpected failure of the task, one second. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final Time time;
    private final LongSupplier task;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Thread thread;

    /** Written under the lock. Read without it as a quick check whether the next run is early enough. */
    private volatile long ringsAt = Time.NEVER;

    /** Guarded by the lock. */
    private boolean closed;

    /**
     * @param threadName the name of the thread, which starts now
     * @param task runs on that thread; returns the {@link Time#nanoTime} of its next run, or {@link Time#NEVER}
     */
    public Alarm(String threadName, Time time, LongSupplier task) {
        this(DaemonThreadFactory.named(threadName), time, task);
    }

    /**
     * @param threads makes the thread; that of a test may fail
     */
    public Alarm(ThreadFactory threads, Time time, LongSupplier task) {
        this.time = time;
        this.task = task;
        this.thread = threads.newThread(this::run);
        thread.start();
    }

    /** Has the task run no later than at this time. Cheap if the next run is early enough. */
    public void ringAt(long nanoTime) {
        if (nanoTime >= ringsAt) {
            return;
        }
        lock.lock();
        try {
            if (nanoTime < ringsAt) {
                ringsAt = nanoTime;
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread after the run that is under way; does not wait for it. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (awaitRing()) {
            ringAt(runTask());
        }
    }

    private boolean awaitRing() {
        lock.lock();
        try {
            long now = time.nanoTime();
            while (!closed && now < ringsAt) {
                time.await(changed, ringsAt - now);
                now = time.nanoTime();
            }
            // Reset before the run: a time that is set during the run must not be lost.
            ringsAt = Time.NEVER;
            return !closed;
        } catch (InterruptedException ex) {
            // Only close() ends this thread.
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private long runTask() {
        try {
            return task.getAsLong();
        } catch (Throwable ex) {
            // Without memory, logging may fail as well.
            Shielded.log(() -> log.error(thread.getName() + " failed and goes on in a second; please report this", ex));
            return time.nanoTime() + PAUSE_NANOS;
        }
    }
}
