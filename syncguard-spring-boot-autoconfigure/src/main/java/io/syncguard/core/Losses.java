package io.syncguard.core;

import io.syncguard.LockReason;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells of lost locks: the log at once, callbacks and listeners on threads that nothing waits for. These are not the
 * same, so that a listener that blocks does not hide a loss from the callbacks. The threads are made with the engine: a
 * loss may come when none can be made.
 *
 * <p>What fails in telling one loss keeps nobody from the next one, and does not come out of the call that noticed it.
 */
final class Losses implements AutoCloseable {

    /** The name under which {@code docs/operations.md} has people look for lost locks. */
    private static final Log log = LogFactory.getLog(LockEngine.class);

    /**
     * How many callbacks run at once, and for how many losses listeners are told at once: a paused process may lose ten thousand
     * locks in one moment.
     */
    private static final int THREADS = 4;

    private final Events events;
    private final ReadyThreads callbackThreads = threads("syncguard-lost");
    private final ReadyThreads listenerThreads = threads("syncguard-lost-listener");

    Losses(Events events) {
        this.events = events;
    }

    private static ReadyThreads threads(String name) {
        return new ReadyThreads(
                name, THREADS, new LinkedBlockingQueue<>(), new ThreadPoolExecutor.AbortPolicy(), Thread::new);
    }

    /** Tells everybody whom it concerns. */
    void tell(Hold hold, LockReason reason, String explanation, List<Runnable> callbacks) {
        Shielded.log(() ->
                log.warn("Lost lock '" + hold.key() + "' after " + hold.held().toMillis() + " ms: " + explanation));
        callbacks.forEach(this::tell);
        runOn(listenerThreads, () -> events.lost(hold, reason));
    }

    /** Tells one callback, which may come after the loss. */
    void tell(Runnable callback) {
        runOn(callbackThreads, () -> () -> run(callback));
    }

    /** News that are on their way are still told. */
    @Override
    public void close() {
        callbackThreads.close();
        listenerThreads.close();
    }

    private static void runOn(ReadyThreads threads, Supplier<Runnable> telling) {
        Shielded.run(
                () -> {
                    try {
                        threads.execute(telling.get());
                    } catch (RejectedExecutionException ex) {
                        log.debug("The news of a lost lock was left out: the application has shut down", ex);
                    }
                },
                log,
                () -> "The news of a lost lock was left out");
    }

    private static void run(Runnable callback) {
        Shielded.run(callback, log, () -> "A callback for a lost lock failed");
    }
}
