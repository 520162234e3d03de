package io.syncguard.interception;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * The threads that acquire and release the locks of publishers, whose subscribers must not block. Acquisitions and
 * releases have separate threads, so a release never queues behind acquisitions that wait for it. Thread-safe.
 *
 * <p>No task runs on the calling thread. If no thread can be created, an acquisition fails with that {@link Error}. A
 * release needs no new thread, because one is created before the first acquisition.
 */
public final class PublisherThreads implements AutoCloseable {

    /** Twice the connections that callers have on PostgreSQL by default. A release waits only for the server. */
    private static final int RELEASE_THREADS = 16;

    private static final int JDK_OF_VIRTUAL_THREADS = 21;

    private final ThreadFactory factory;
    private final Executor acquisitions;
    private final ThreadPoolExecutor ownAcquisitions;
    private final ThreadPoolExecutor releases;

    /** Guarded by this object. Runs a release for which no thread can be created. */
    private @Nullable ReadyThreads ready;

    /** Guarded by this object. */
    private boolean closed;

    /**
     * Acquisitions wait on virtual threads if the JDK has them.
     *
     * @param name the name of the daemon threads, which are numbered
     */
    public PublisherThreads(String name) {
        this(
                DaemonThreadFactory.numbered(name),
                Runtime.version().feature() < JDK_OF_VIRTUAL_THREADS
                        ? null
                        : new VirtualThreadTaskExecutor(name + "-virtual-"));
    }

    /** @param acquisitions {@code null} for threads of the factory */
    PublisherThreads(ThreadFactory factory, @Nullable Executor acquisitions) {
        this.factory = factory;
        this.ownAcquisitions =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
        this.acquisitions = acquisitions == null ? ownAcquisitions : acquisitions;
        this.releases = new ThreadPoolExecutor(
                RELEASE_THREADS, RELEASE_THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        releases.allowCoreThreadTimeOut(true);
    }

    /** Runs each task on a thread of its own. The callers limit the number of tasks. */
    public Executor acquisitions() {
        return this::acquire;
    }

    /** Runs tasks that do not wait for a lock. After {@link #close}, it rejects them. */
    public Executor releases() {
        return this::release;
    }

    /** Called when no lock is held any more. Acquisitions that still run can finish. */
    @Override
    public synchronized void close() {
        closed = true;
        ownAcquisitions.shutdown();
        releases.shutdown();
        if (ready != null) {
            ready.close();
        }
    }

    private void acquire(Runnable task) {
        makeReady();
        try {
            acquisitions.execute(task);
        } catch (RejectedExecutionException ex) {
            // It was closed meanwhile: its number of threads is not limited.
            throw shuttingDown(ex);
        }
    }

    private static LockException shuttingDown(@Nullable Throwable cause) {
        return new LockException(LockErrorCode.ABORTED, "No new locks, the application is shutting down", cause);
    }

    private synchronized void makeReady() {
        if (closed) {
            throw shuttingDown(null);
        }
        if (ready == null) {
            RejectedExecutionHandler afterClose = new ThreadPoolExecutor.AbortPolicy();
            ready = new ReadyThreads(factory, 1, new LinkedBlockingQueue<>(), afterClose);
        }
    }

    private void release(Runnable task) {
        try {
            releases.execute(task);
        } catch (Error ex) {
            readyThread(ex).execute(task);
        }
    }

    private synchronized ReadyThreads readyThread(Error lack) {
        if (ready == null) {
            throw lack;
        }
        return ready;
    }
}
