package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Joins a nested request to the handle that the running thread already has for its key. Otherwise the thread would wait
 * for itself. Thread-safe.
 */
final class HandleJoiner {

    private final EngineParts parts;
    private final Heartbeat heartbeat;

    HandleJoiner(EngineParts parts, Heartbeat heartbeat) {
        this.parts = parts;
        this.heartbeat = heartbeat;
    }

    /**
     * Joins the handle of the same key, if there is one.
     *
     * @return {@code null} when there is none
     * @throws LockException when the handle is shared and lets in more callers than the request allows
     */
    @Nullable
    LockHandle join(LockRequest request) {
        LeaseHandle outer = outerHandle(request.key());
        return outer == null ? null : join(outer, request);
    }

    private @Nullable LeaseHandle outerHandle(String key) {
        List<LockHandle> views = views();
        return views.isEmpty()
                ? null
                : open(views)
                        .filter(outer -> outer.key().equals(key))
                        .findFirst()
                        .orElse(null);
    }

    /** First the handles of the thread's bodies, then those whose release waits for its transactions. */
    private List<LockHandle> views() {
        List<LockHandle> ofThread = CurrentLocks.innermostFirst();
        List<LockHandle> pending = parts.threads().pending();
        return pending.isEmpty()
                ? ofThread
                : Stream.concat(ofThread.stream(), pending.stream()).toList();
    }

    private Stream<LeaseHandle> open(List<LockHandle> views) {
        return views.stream()
                .map(LeaseHandle::of)
                .filter(Objects::nonNull)
                .filter(outer -> outer.isIn(parts.backend()) && outer.state() != LockHandle.State.RELEASED);
    }

    private LockHandle join(LeaseHandle outer, LockRequest request) {
        if (outer.mode() == LockMode.SHARED) {
            requireNoMoreThanAllowed(outer.request().permits(), request);
        }
        JoinedHandle joined = new JoinedHandle(outer, request);
        outer.requireHeld(joined);
        outer.bindTransaction(request);
        outer.lease().holdTime().join(request);
        if (request.heartbeat()) {
            outer.lease().schedule().switchOn(request);
            heartbeat.schedule(outer.lease());
        }
        return joined;
    }

    /** @param permits the permits of the shared handle that the thread has; 0 for no limit */
    private static void requireNoMoreThanAllowed(int permits, LockRequest request) {
        String held = "Lock '" + request.key() + "' is held in mode SHARED";
        if (request.mode() == LockMode.EXCLUSIVE) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    held + ", and an exclusive request for it would wait for its own thread: acquire it exclusively"
                            + " from the start, or release the shared lock first");
        }
        if (request.permits() > 0 && (permits == 0 || permits > request.permits())) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    held + (permits == 0 ? " without a limit" : ", as one of " + permits)
                            + ", and a nested request for one of " + request.permits()
                            + " permits would join it although more may hold it: acquire it with "
                            + request.permits() + " permits from the start, or release it first");
        }
    }
}
