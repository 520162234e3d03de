package io.syncguard.core;

import io.syncguard.LockReason;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells of lost locks: the log at once, callbacks and listeners on threads that nothing waits for. These are not the same, so
 * that a listener that blocks does not hide a loss from the callbacks.
 */
final class Losses implements AutoCloseable {

    /** The name under which {@code docs/operations.md} has people look for lost locks. */
    private static final Log log = LogFactory.getLog(LockEngine.class);

    /**
     * How many callbacks run at once, and for how many losses listeners are told at once: a paused process may lose ten thousand
     * locks in one moment.
     */
    private static final int THREADS = 16;

    private final Events events;
    private final ThreadPoolExecutor callbackThreads = threads("syncguard-lost-");
    private final ThreadPoolExecutor listenerThreads = threads("syncguard-lost-listener-");

    Losses(Events events) {
        this.events = events;
    }

    private static ThreadPoolExecutor threads(String name) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Tells everybody whom it concerns. */
    void tell(Hold hold, LockReason reason, String explanation, List<Runnable> callbacks) {
        log.warn("Lost lock '" + hold.key() + "' after " + hold.held().toMillis() + " ms: " + explanation);
        callbacks.forEach(this::tell);
        runOn(listenerThreads, events.lost(hold, reason));
    }

    /** Tells one callback, which may come after the loss. */
    void tell(Runnable callback) {
        runOn(callbackThreads, () -> run(callback));
    }

    /** News that are on their way are still told. */
    @Override
    public void close() {
        callbackThreads.shutdown();
        listenerThreads.shutdown();
    }

    private static void runOn(ThreadPoolExecutor threads, Runnable telling) {
        try {
            threads.execute(telling);
        } catch (RejectedExecutionException ex) {
            log.debug("The news of a lost lock was left out: the application has shut down", ex);
        }
    }

    private static void run(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error ex) {
            log.warn("A callback for a lost lock failed", ex);
        }
    }
}
