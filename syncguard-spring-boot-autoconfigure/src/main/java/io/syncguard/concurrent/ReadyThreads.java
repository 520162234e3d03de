package io.syncguard.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Daemon threads, of which at least one is made at once, so that work also runs when no new thread can be made. An
 * exception of the work ends no thread. Threads may share it.
 */
public final class ReadyThreads implements Executor, AutoCloseable {

    private static final Log log = LogFactory.getLog(ReadyThreads.class);

    /** After which a thread ends that was made when the others were busy. */
    private static final long IDLE_SECONDS = 10;

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
     * One thread, and further ones while those before them are busy. Work waits for one of them when there are as many
     * as possible.
     *
     * @param factory makes the threads
     * @param most how many threads there are at most
     * @throws Error when the first thread cannot be made
     */
    public static ReadyThreads upTo(int most, ThreadFactory factory) {
        Waiting waiting = new Waiting();
        return new ReadyThreads(
                new ThreadPoolExecutor(1, most, IDLE_SECONDS, TimeUnit.SECONDS, waiting, factory, waiting::leave) {
                    @Override
                    public void execute(Runnable work) {
                        try {
                            super.execute(work);
                        } catch (Error ex) {
                            // No thread can be made now. One that exists runs it.
                            waiting.leave(work, this);
                        }
                    }
                });
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

    /** Takes work only for a thread that waits for some: for other work the executor makes a thread first. */
    private static final class Waiting extends LinkedTransferQueue<Runnable> {

        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable work) {
            return tryTransfer(work);
        }

        private void leave(Runnable work, ThreadPoolExecutor threads) {
            if (threads.isShutdown() || !super.offer(work) || threads.isShutdown() && remove(work)) {
                throw new RejectedExecutionException("The threads have ended");
            }
        }
    }
}
