package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import io.syncguard.concurrent.Shielded;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Informs listeners and the observer, and runs the callbacks for a loss. A listener that throws does not affect the
 * others. Thread-safe.
 *
 * <p>Events and observations of the heartbeat and of losses are dispatched on threads that nothing waits for:
 * {@code syncguard-events}, {@code syncguard-lost-n} for callbacks, and {@code syncguard-lost-listener-n} for
 * listeners. The last two are separate, so that a listener that blocks does not delay a callback. The first of each is
 * made with the engine, because a loss may come when no thread can be made, and the others while it is busy. Work that
 * waits after a lack of threads runs when {@link #makeMissingThreads} can make one.
 */
final class ListenerDispatcher implements AutoCloseable {

    /**
     * How many statements of the heartbeat, of up to {@value DueRequests#CHUNK} leases each, may have events that wait.
     */
    static final int MAX_PENDING = 100;

    private static final Log log = LogFactory.getLog(ListenerDispatcher.class);

    /** How many callbacks run at once, and how many events of losses are dispatched at once. */
    private static final int LOSS_THREADS = 4;

    private final String backend;
    private final List<LockListener> listeners;
    private final LockObserver observer;
    private final ReadyThreads heartbeatEvents;

    /** Runs when no thread can be made for a loss. */
    private volatile Runnable lackOfThreads = () -> {};

    private final ReadyThreads callbackThreads;
    private final ReadyThreads lossListenerThreads;

    ListenerDispatcher(String backend, List<? extends LockListener> listeners, LockObserver observer) {
        this(backend, listeners, observer, DaemonThreadFactory.named("syncguard-lost"));
    }

    ListenerDispatcher(
            String backend, List<? extends LockListener> listeners, LockObserver observer, ThreadFactory lossThreads) {
        this.backend = backend;
        this.listeners = Collections.unmodifiableList(listeners);
        this.observer = observer == LockObserver.NONE ? observer : new ShieldedObserver(observer);
        this.callbackThreads = lossThreads("syncguard-lost", lossThreads);
        this.lossListenerThreads = lossThreads("syncguard-lost-listener", lossThreads);
        this.heartbeatEvents = new ReadyThreads(
                DaemonThreadFactory.named("syncguard-events"),
                1,
                new ArrayBlockingQueue<>(MAX_PENDING),
                (task, executor) -> leaveOut(executor));
    }

    /** The task runs whenever no thread can be made for a loss, and has {@link #makeMissingThreads} called later. */
    void onLackOfThreads(Runnable task) {
        lackOfThreads = task;
    }

    /** Makes the threads that could not be made. Cheap if there are none. */
    void makeMissingThreads() {
        callbackThreads.makeMissing();
        lossListenerThreads.makeMissing();
    }

    AcquireObservation observeAcquire(LockRequest request) {
        return observer.acquire(backend, request);
    }

    /** An event of an acquisition that is not granted yet. */
    void dispatch(LockRequest request, Duration elapsed, BiConsumer<LockListener, LockEvent> event) {
        inform(event(request, null, null, elapsed, 0), event);
    }

    void refused(LockRequest request, Duration elapsed) {
        inform(event(request, null, LockReason.LOCKED, elapsed, 0), LockListener::refused);
    }

    void failed(LockRequest request, Duration elapsed, LockException error) {
        LockReason reason = error instanceof LockLostException lost ? lost.reason() : null;
        inform(
                event(request, null, reason, elapsed, 0),
                (listener, event) -> listener.failed(event, LockOperation.ACQUIRE, error));
    }

    void forceReleased(ForcedRelease release, String reason) {
        inform(listener -> listener.forceReleased(release, reason));
    }

    /** Runs a callback for a loss. It may have been registered after the loss. */
    void call(Runnable callback) {
        execute(callbackThreads, () -> () -> Shielded.run(callback, log, () -> "A callback for a lost lock failed"));
    }

    /** Dispatches the events and callbacks that wait. */
    @Override
    public void close() {
        callbackThreads.close();
        lossListenerThreads.close();
        heartbeatEvents.close();
    }

    private ReadyThreads lossThreads(String name, ThreadFactory maker) {
        return ReadyThreads.upTo(LOSS_THREADS, DaemonThreadFactory.numbered(name, maker), () -> lackOfThreads.run());
    }

    private static void leaveOut(ThreadPoolExecutor executor) {
        if (!executor.isShutdown()) {
            log.warn("Lock listeners are too slow: events of the heartbeat are left out, which changes nothing for the"
                    + " locks");
        }
    }

    /** Whether somebody learns of events. */
    boolean isInUse() {
        return isObserved() || hasListeners();
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    boolean isObserved() {
        return observer != LockObserver.NONE;
    }

    /** Runs what the work returns on the thread of the heartbeat's events, which nothing waits for. */
    void executeLater(Supplier<Runnable> work) {
        Shielded.run(
                () -> heartbeatEvents.execute(work.get()),
                log,
                () -> "Events of the heartbeat were left out, which changes nothing for the locks");
    }

    /** Runs what the work returns on a thread for the listeners of losses. */
    void executeForLoss(Supplier<Runnable> work) {
        execute(lossListenerThreads, work);
    }

    private static void execute(ReadyThreads threads, Supplier<Runnable> work) {
        Shielded.run(
                () -> {
                    try {
                        threads.execute(work.get());
                    } catch (RejectedExecutionException ex) {
                        log.debug(
                                "A callback or listener was not called for a lost lock: the application has shut down",
                                ex);
                    }
                },
                log,
                () -> "A callback or listener was not called for a lost lock");
    }

    /** @param grant the number of the grant; 0 while there is none */
    LockEvent event(
            LockRequest request, @Nullable Fence fence, @Nullable LockReason reason, Duration elapsed, long grant) {
        return new LockEvent(
                request.name(),
                request.key(),
                request.mode(),
                request.permits(),
                backend,
                fence,
                reason,
                elapsed,
                grant);
    }

    void inform(LockEvent event, BiConsumer<LockListener, LockEvent> kind) {
        inform(listener -> kind.accept(listener, event));
    }

    private void inform(Consumer<LockListener> kind) {
        for (LockListener listener : listeners) {
            // Also an Error of a listener must not keep a grant from its holder.
            Shielded.run(
                    () -> kind.accept(listener),
                    log,
                    () -> "A lock listener failed, which changes nothing for the lock: " + listener);
        }
    }
}
