package io.syncguard.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A fixed number of daemon threads, all made at once, so that work also runs when no new thread can be made. An
 * exception of the work ends no thread. Threads may share it.
 */
public final class ReadyThreads implements Executor, AutoCloseable {

    private static final Log log = LogFactory.getLog(ReadyThreads.class);

    private final ThreadPoolExecutor threads;

    /**
     * @param factory makes the threads
     * @param waiting queues work while no thread is free
     * @param rejected receives work that the queue refuses, and all work after {@link #close}
     * @throws Error when a thread cannot be made; those made before are ended
     */
    public ReadyThreads(
            ThreadFactory factory, int number, BlockingQueue<Runnable> waiting, RejectedExecutionHandler rejected) {
        this.threads = new ThreadPoolExecutor(number, number, 0, TimeUnit.SECONDS, waiting, factory, rejected);
        try {
            threads.prestartAllCoreThreads();
        } catch (Throwable ex) {
            threads.shutdown();
            throw ex;
        }
    }

    /** Catches everything: a thread that died would have to be made again. */
    @Override
    public void execute(Runnable work) {
        threads.execute(() -> Shielded.run(work, log, () -> "Work of " + name() + " failed; please report this"));
    }

    /** Queued work still runs. */
    @Override
    public void close() {
        threads.shutdown();
    }

    private static String name() {
        return Thread.currentThread().getName();
    }
}
