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
 * A fixed number of daemon threads, all made at once and kept: work is handed to them also when no thread can be made
 * any more. What a piece of work throws ends no thread. Threads may share it.
 */
public final class ReadyThreads implements Executor, AutoCloseable {

    private static final Log log = LogFactory.getLog(ReadyThreads.class);

    private final ThreadPoolExecutor threads;

    /**
     * @param factory makes the threads
     * @param waiting keeps the work that no thread is free for
     * @param rejected is given what does not fit in there, and all that comes after {@link #close}
     * @throws Error when a thread cannot be made; none is left behind
     */
    public ReadyThreads(
            ThreadFactory factory, int number, BlockingQueue<Runnable> waiting, RejectedExecutionHandler rejected) {
        this.threads = new ThreadPoolExecutor(number, number, 0, TimeUnit.SECONDS, waiting, factory, rejected);
        try {
            threads.prestartAllCoreThreads();
        } catch (RuntimeException | Error ex) {
            threads.shutdown();
            throw ex;
        }
    }

    /** A thread that dies would have to be made anew, so none does. */
    @Override
    public void execute(Runnable work) {
        threads.execute(() -> Shielded.run(work, log, () -> "Work of " + name() + " failed; please report this"));
    }

    /** What was handed over before is still done. */
    @Override
    public void close() {
        threads.shutdown();
    }

    private static String name() {
        return Thread.currentThread().getName();
    }
}
