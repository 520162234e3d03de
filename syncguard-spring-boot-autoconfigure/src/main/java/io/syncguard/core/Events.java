package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tells all listeners, each shielded from what the others throw.
 */
final class Events {

    private static final Log log = LogFactory.getLog(LockListener.class);

    private final String backend;
    private final List<LockListener> listeners;

    Events(String backend, List<LockListener> listeners) {
        this.backend = backend;
        this.listeners = List.copyOf(listeners);
    }

    /** Tells of a grant. */
    void of(Hold hold, BiConsumer<LockListener, LockEvent> event) {
        tell(hold.request(), hold.fence(), hold.held(), event);
    }

    void failed(Hold hold, LockOperation operation, LockException error) {
        of(hold, (listener, event) -> listener.failed(event, operation, error));
    }

    /** Tells of a request, and of its grant if there is one. */
    void tell(LockRequest request, @Nullable Fence fence, Duration elapsed, BiConsumer<LockListener, LockEvent> event) {
        if (listeners.isEmpty()) {
            return;
        }
        LockEvent what = new LockEvent(request.name(), request.key(), LockMode.EXCLUSIVE, backend, fence, elapsed);
        for (LockListener listener : listeners) {
            try {
                event.accept(listener, what);
            } catch (RuntimeException | Error ex) {
                // An Error, too: it must not part a grant from its holder.
                log.warn("A lock listener failed, which changes nothing for the lock: " + listener, ex);
            }
        }
    }
}
