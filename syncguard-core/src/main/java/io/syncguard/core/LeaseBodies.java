package io.syncguard.core;

import io.syncguard.concurrent.RunningBody;
import io.syncguard.concurrent.Shielded;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** What runs under a lease, bodies and commits, and the callbacks for its loss. Thread-safe. */
final class LeaseBodies {

    private static final Log log = LogFactory.getLog(LeaseBodies.class);

    private final List<RunningBody> bodies = new CopyOnWriteArrayList<>();

    /** Guarded by itself. */
    private final List<Runnable> callbacks = new ArrayList<>(0);

    /** Guarded by the callbacks. */
    private boolean lost;

    private volatile boolean committed;

    /** The threads of the bodies that run, also of those that no loss interrupts. */
    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    /** Whether a body has begun since {@link #wereUsed} was called last, or ran then. */
    private volatile boolean used;

    private volatile boolean begun;

    void began(Thread thread) {
        begun = true;
        used = true;
        threads.add(thread);
    }

    void ended(Thread thread) {
        threads.remove(thread);
    }

    /** Whether a body has ever begun. */
    boolean haveBegun() {
        return begun;
    }

    /**
     * The threads that run the bodies, without that of the holder if there are others: it usually waits for these.
     *
     * @param holder the thread that acquired the lease
     */
    List<Thread> threads(Thread holder) {
        List<Thread> others =
                threads.stream().filter(thread -> thread != holder).toList();
        return others.isEmpty() ? List.copyOf(threads) : others;
    }

    /** Whether a body has run since the last call, or since the grant. One thread calls it. */
    boolean wereUsed() {
        boolean before = used;
        used = !threads.isEmpty();
        return before || used;
    }

    void add(RunningBody body) {
        bodies.add(body);
    }

    void remove(RunningBody body) {
        bodies.remove(body);
    }

    /**
     * Whether the interrupt of one of the bodies explains the failure. That body may enclose another one on the same
     * thread.
     */
    boolean explain(Throwable failure) {
        return bodies.stream().anyMatch(body -> body.explains(failure));
    }

    /** An exception tells the running thread of the loss. */
    void withdrawInterrupt() {
        bodies.forEach(RunningBody::withdrawInterrupt);
    }

    void interruptPending() {
        bodies.forEach(RunningBody::interruptIfPending);
    }

    /** Adds a callback for the loss. Returns {@code false} after the loss: the caller then runs it. */
    boolean addCallback(Runnable callback) {
        synchronized (callbacks) {
            return !lost && callbacks.add(callback);
        }
    }

    /** The lease is lost: interrupts the bodies, and returns the callbacks, which the caller runs. */
    List<Runnable> lost() {
        bodies.forEach(body ->
                Shielded.run(body::interrupt, log, () -> "A body could not be interrupted after the loss of its lock"));
        synchronized (callbacks) {
            lost = true;
            return List.copyOf(callbacks);
        }
    }

    /** The lease was lost during a commit that succeeded. */
    void committed() {
        committed = true;
    }

    /**
     * Whether the lease was lost during a commit that succeeded. It was pinned, so that nobody was granted the key
     * before: an exception because of that commit would contradict the data.
     */
    boolean wereCommitted() {
        return committed;
    }
}
