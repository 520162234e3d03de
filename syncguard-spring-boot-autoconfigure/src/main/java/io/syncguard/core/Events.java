package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BiConsumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tells all listeners, each shielded from what the others throw, and the heartbeat from those that block.
 */
final class Events implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LockListener.class);

    /** How many statements of the heartbeat, of up to {@value Heartbeat#CHUNK} locks each, may wait to be told. */
    static final int MAX_PENDING = 100;

    private final String backend;
    private final List<LockListener> listeners;

    /** One thread, {@code syncguard-events}. */
    private final ReadyThreads teller;

    Events(String backend, List<LockListener> listeners) {
        this.backend = backend;
        this.listeners = List.copyOf(listeners);
        this.teller = new ReadyThreads(
                "syncguard-events",
                1,
                new ArrayBlockingQueue<>(MAX_PENDING),
                (task, executor) -> leaveOut(executor),
                Thread::new);
    }

    /** Tells of a grant. */
    void of(Hold hold, BiConsumer<LockListener, LockEvent> event) {
        tell(describe(hold, null), event);
    }

    /** Describes a loss as it is now, to be told on a thread that nothing waits for. */
    Runnable lost(Hold hold, LockReason reason) {
        LockEvent what = describe(hold, reason);
        return () -> tell(what, LockListener::lost);
    }

    void failed(Hold hold, LockOperation operation, LockException error) {
        of(hold, (listener, event) -> listener.failed(event, operation, error));
    }

    /** Tells of a request, and of its grant if there is one. */
    void of(LockRequest request, @Nullable Fence fence, Duration elapsed, BiConsumer<LockListener, LockEvent> event) {
        tell(describe(request, fence, null, elapsed), event);
    }

    void refused(LockRequest request, Duration elapsed) {
        tell(describe(request, null, LockReason.LOCKED, elapsed), LockListener::refused);
    }

    void failed(LockRequest request, Duration elapsed, LockException error) {
        // An acquisition loses a lock in one way only: its grant was over on arrival.
        LockReason reason = error instanceof LockLostException ? LockReason.EXPIRED : null;
        tell(
                describe(request, null, reason, elapsed),
                (listener, event) -> listener.failed(event, LockOperation.ACQUIRE, error));
    }

    /** Tells of grants as they are now, on a thread that nothing waits for. */
    void later(List<Hold> holds, BiConsumer<LockListener, LockEvent> event) {
        if (!listeners.isEmpty() && !holds.isEmpty()) {
            Shielded.run(
                    () -> {
                        List<LockEvent> each =
                                holds.stream().map(hold -> describe(hold, null)).toList();
                        teller.execute(() -> each.forEach(what -> tell(what, event)));
                    },
                    log,
                    () -> "Events of the heartbeat were left out, which changes nothing for the locks");
        }
    }

    @Override
    public void close() {
        teller.close();
    }

    private static void leaveOut(ThreadPoolExecutor executor) {
        if (!executor.isShutdown()) {
            log.warn(
                    "Lock listeners are too slow: events of the heartbeat are left out, which changes nothing for the locks");
        }
    }

    private LockEvent describe(Hold hold, @Nullable LockReason reason) {
        return describe(hold.request(), hold.fence(), reason, hold.held());
    }

    private LockEvent describe(
            LockRequest request, @Nullable Fence fence, @Nullable LockReason reason, Duration elapsed) {
        return new LockEvent(request.name(), request.key(), request.mode(), backend, fence, reason, elapsed);
    }

    private void tell(LockEvent what, BiConsumer<LockListener, LockEvent> event) {
        for (LockListener listener : listeners) {
            // An Error must not part a grant from its holder, either.
            Shielded.run(
                    () -> event.accept(listener, what),
                    log,
                    () -> "A lock listener failed, which changes nothing for the lock: " + listener);
        }
    }
}
