package io.syncguard.core;

import io.syncguard.concurrent.RunningBody;
import io.syncguard.concurrent.Shielded;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Who has to be told when a lease is lost: the bodies that run under it, and callbacks. Threads may share it. */
final class LeaseBodies {

    private static final Log log = LogFactory.getLog(LockEngine.class);

    private final Set<RunningBody> bodies = ConcurrentHashMap.newKeySet(1);

    /** Guarded by itself. */
    private final List<Runnable> callbacks = new ArrayList<>(0);

    /** Guarded by the callbacks. */
    private boolean told;

    void add(RunningBody body) {
        bodies.add(body);
    }

    void remove(RunningBody body) {
        bodies.remove(body);
    }

    /** Whether the interrupt of one of them, which may be around another one on the same thread, explains the failure. */
    boolean explain(Throwable failure) {
        return bodies.stream().anyMatch(body -> body.explains(failure));
    }

    void interruptPending() {
        bodies.forEach(RunningBody::interruptIfPending);
    }

    /** Keeps a callback for the loss; {@code false} when that has been told. */
    boolean addCallback(Runnable callback) {
        synchronized (callbacks) {
            return !told && callbacks.add(callback);
        }
    }

    /** Interrupts the bodies, and returns the callbacks to be run. */
    List<Runnable> tell() {
        bodies.forEach(
                body -> Shielded.run(body::interrupt, log, () -> "A body could not be told that its lock is lost"));
        synchronized (callbacks) {
            told = true;
            return List.copyOf(callbacks);
        }
    }
}
