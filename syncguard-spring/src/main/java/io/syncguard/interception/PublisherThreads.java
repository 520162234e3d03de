package io.syncguard.interception;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * The threads for the locks of publishers, whose subscribers must not block. Acquisitions and releases have separate
 * ones: a release never stands behind those that wait for it. Thread-safe.
 *
 * <p>No task runs on the calling thread. A lack of threads is the {@link Error} of an acquisition. A release needs no
 * new thread: one is made before the first acquisition.
 */
public final class PublisherThreads implements AutoCloseable {

    /** Twice the connections that PostgreSQL has for them by default. A release waits for the server alone. */
    private static final int RELEASE_THREADS = 16;

    private static final int JDK_OF_VIRTUAL_THREADS = 21;

    private final ThreadFactory factory;
    private final Executor acquisitions;
    private final ThreadPoolExecutor ownAcquisitions;
    private final ThreadPoolExecutor releases;

    /** Guarded by this object. Sends a release for which no thread can be made. */
    private @Nullable ReadyThreads ready;

    /** Guarded by this object. */
    private boolean closed;

    /**
     * Virtual threads wait, where the JDK has them.
     *
     * @param name of its daemon threads, which are numbered
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

    /** Runs each task on a thread of its own. Their number is limited by those who submit them. */
    public Executor acquisitions() {
        return this::acquire;
    }

    /** Runs tasks that wait for nobody. After {@link #close} it refuses them. */
    public Executor releases() {
        return this::release;
    }

    /** Called when no lock is held any more. Acquisitions that still run come to their ends. */
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
        acquisitions.execute(task);
    }

    private synchronized void makeReady() {
        if (closed) {
            throw new LockException(LockErrorCode.ABORTED, "No new locks, the application is shutting down");
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
