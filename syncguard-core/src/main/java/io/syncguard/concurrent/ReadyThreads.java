package io.syncguard.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Daemon threads, of which at least one is made at once, so that work also runs when no new thread can be made. An
 * exception of the work ends no thread. Thread-safe.
 */
public final class ReadyThreads implements Executor, AutoCloseable {

    private static final Log log = LogFactory.getLog(ReadyThreads.class);

    private final ThreadPoolExecutor threads;

    /**
     * A fixed number of threads.
     *
     * @param factory makes the threads
     * @param waiting queues work while no thread is free
     * @param rejected receives work that the queue refuses, and all work after {@link #close}
     * @throws Error when a thread cannot be made; those made before are ended
     */
    public ReadyThreads(
            ThreadFactory factory, int number, BlockingQueue<Runnable> waiting, RejectedExecutionHandler rejected) {
        this(new ThreadPoolExecutor(number, number, 0, TimeUnit.SECONDS, waiting, factory, rejected));
    }

    private ReadyThreads(ThreadPoolExecutor threads) {
        this.threads = threads;
        try {
            threads.prestartAllCoreThreads();
        } catch (Throwable ex) {
            threads.shutdown();
            throw ex;
        }
    }

    /**
     * One thread, and further ones while those before them are busy. None ends before {@link #close}. Work waits for
     * one of them when there are as many as possible, or when no further one can be made.
     *
     * @param factory makes the threads
     * @param most how many threads there are at most
     * @param lack runs when a thread could not be made; {@link #makeMissing} is to be called later then
     * @throws Error when the first thread cannot be made
     */
    public static ReadyThreads upTo(int most, ThreadFactory factory, Runnable lack) {
        return new ReadyThreads(new Growing(most, factory, lack));
    }

    /** Makes the threads for which work waits, as new work and the end of any work do. */
    public void makeMissing() {
        if (threads instanceof Growing growing) {
            growing.grow();
        }
    }

    /**
     * Catches everything: a thread that died would have to be made again.
     *
     * @throws RejectedExecutionException after {@link #close}, unless the work is left out then
     */
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

    /** Makes a thread only if there is more work than threads. */
    private static final class Growing extends ThreadPoolExecutor {

        private final Runnable lack;

        /** How much work waits or runs. */
        private final AtomicInteger unfinished = new AtomicInteger();

        Growing(int most, ThreadFactory factory, Runnable lack) {
            super(most, most, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
            this.lack = lack;
        }

        @Override
        public int prestartAllCoreThreads() {
            return prestartCoreThread() ? 1 : 0;
        }

        @Override
        public void execute(Runnable work) {
            getQueue().add(work);
            if (isShutdown() && remove(work)) {
                throw new RejectedExecutionException("The threads have ended");
            }
            unfinished.incrementAndGet();
            grow();
        }

        @Override
        protected void afterExecute(Runnable work, @Nullable Throwable failure) {
            unfinished.decrementAndGet();
            grow();
        }

        private void grow() {
            try {
                while (unfinished.get() > getPoolSize() && prestartCoreThread()) {
                    // Others may have submitted work meanwhile.
                }
            } catch (Throwable ex) {
                // An existing thread runs it, unless a new one can be made before.
                lack.run();
            }
        }
    }
}
