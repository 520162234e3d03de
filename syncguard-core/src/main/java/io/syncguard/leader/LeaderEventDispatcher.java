package io.syncguard.leader;

import io.syncguard.Fence;
import io.syncguard.OneLine;
import io.syncguard.concurrent.ReadyThreads;
import io.syncguard.concurrent.Shielded;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Dispatches the events of one member to its listeners, in order, on one thread. Each listener is shielded from what
 * the others throw, and the member from those that block. Thread-safe.
 */
final class LeaderEventDispatcher implements TermEvents, AutoCloseable {

    private static final Log log = LogFactory.getLog(LeaderEventDispatcher.class);

    /** How many events may wait before rotations are left out. */
    static final int MAX_PENDING = 100;

    private final String election;
    private final String owner;

    /** The listeners of all elections. Written by the election. */
    private final List<LeaderListener> common;

    private final List<LeaderListener> own = new CopyOnWriteArrayList<>();

    private final ThreadFactory threads;
    private final BlockingQueue<Runnable> pending = new LinkedBlockingQueue<>();

    /** One thread. Written under this, read by all. */
    private volatile @Nullable ReadyThreads thread;

    /** The thread while it calls listeners. Written by itself, read by all. */
    private volatile @Nullable Thread listening;

    /** Guarded by this. */
    private boolean closed;

    LeaderEventDispatcher(String election, String owner, List<LeaderListener> common, ThreadFactory threads) {
        this.election = election;
        this.owner = owner;
        this.common = common;
        this.threads = threads;
    }

    /** Makes the thread once, before the first event: an election must not depend on a new thread. */
    synchronized void makeReady() {
        if (thread == null && !closed) {
            thread = new ReadyThreads(threads, 1, pending, new ThreadPoolExecutor.AbortPolicy());
        }
    }

    LeaderRegistration add(LeaderListener listener) {
        own.add(listener);
        return () -> own.remove(listener);
    }

    @Override
    public void elected(Fence fence) {
        LeaderElectedEvent event = new LeaderElectedEvent(election, owner, fence);
        Shielded.log(() -> log.info("This process leads '" + OneLine.of(election) + "', under fence " + fence));
        var unused = dispatch(listener -> listener.elected(event));
    }

    @Override
    public void fenceRotated(Fence fence) {
        if (pending.size() < MAX_PENDING) {
            LeaderFenceRotatedEvent event = new LeaderFenceRotatedEvent(election, owner, fence);
            var unused = dispatch(listener -> listener.fenceRotated(event));
        } else {
            log.warn("Leader listeners are too slow: rotations of fences are left out, which changes nothing for the"
                    + " leader");
        }
    }

    @Override
    public CompletableFuture<Void> revoked(Fence fence, LeaderRevocation reason) {
        LeaderRevokedEvent event = new LeaderRevokedEvent(election, owner, fence, reason);
        Shielded.log(() -> log.info("This process does not lead '" + OneLine.of(election) + "' any more: " + reason));
        return dispatch(listener -> listener.revoked(event));
    }

    @Override
    public @Nullable Thread listening() {
        return listening;
    }

    /** @return done when all listeners have returned, or the event is left out because the application has shut down */
    CompletableFuture<Void> dispatch(Consumer<LeaderListener> event) {
        ReadyThreads current = thread;
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            return CompletableFuture.runAsync(() -> callAll(event), current);
        } catch (RejectedExecutionException ex) {
            log.debug("An event of a leader was left out: the application has shut down", ex);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** The thread still dispatches waiting events. */
    @Override
    public synchronized void close() {
        closed = true;
        if (thread != null) {
            thread.close();
        }
    }

    private void callAll(Consumer<LeaderListener> event) {
        listening = Thread.currentThread();
        Stream.concat(common.stream(), own.stream()).forEach(listener -> call(listener, event));
        listening = null;
    }

    private static void call(LeaderListener listener, Consumer<LeaderListener> event) {
        Shielded.run(
                () -> event.accept(listener),
                log,
                () -> "A leader listener failed, which changes nothing for the leader: " + listener);
    }
}
