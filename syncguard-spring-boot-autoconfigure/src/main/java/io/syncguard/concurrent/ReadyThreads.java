package io.syncguard.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
     * @param name the name of one thread; several are numbered
     * @param waiting keeps the work that no thread is free for
     * @param rejected is given what does not fit in there, and all that comes after {@link #close}
     * @param factory makes the threads
     * @throws Error when a thread cannot be made; none is left behind
     */
    public ReadyThreads(
            String name,
            int number,
            BlockingQueue<Runnable> waiting,
            RejectedExecutionHandler rejected,
            ThreadFactory factory) {
        AtomicInteger made = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                number,
                number,
                0,
                TimeUnit.SECONDS,
                waiting,
                work -> {
                    Thread thread = factory.newThread(work);
                    thread.setName(number == 1 ? name : name + "-" + made.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                },
                rejected);
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
