package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockBackendException;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockUnavailableException;
import io.syncguard.OnLost;
import io.syncguard.concurrent.RunningBody;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One body that runs under a lease, on one thread. */
final class BodyScope implements CurrentLocks.Scope {

    private final LeaseHandle handle;
    private final Thread thread = Thread.currentThread();
    private final RunningBody body = new RunningBody(thread);
    private final boolean interruptible;
    private final HeldObservation.Body observation;

    private BodyScope(LeaseHandle handle, boolean interruptible) {
        this.handle = handle;
        this.interruptible = interruptible;
        this.observation = handle.lease().observation().body();
    }

    /**
     * @param view the handle itself, or one that joined it
     * @throws LockLostException when the lock is not held
     */
    static BodyScope open(LeaseHandle handle, LockHandle view) {
        BodyScope scope = new BodyScope(handle, view.request().onLost() == OnLost.INTERRUPT);
        try {
            scope.begin(view);
        } catch (Throwable failure) {
            scope.observation.failed(failure);
            scope.close();
            throw failure;
        }
        return scope;
    }

    private void begin(LockHandle view) {
        handle.bodies().began(thread);
        if (interruptible) {
            body.begin();
            handle.bodies().add(body);
        }
        // Checked after the body was added: a loss from here on finds the body.
        handle.requireHeld(view);
        handle.bindTransaction(view.request());
        if (view == handle) {
            handle.transactions().bodyBegins(handle.key());
        }
    }

    @Override
    public @Nullable LockException failed(Throwable failure) {
        LockException instead = isInterruptedByLoss(failure) ? handle.lostException(failure) : inBody(failure);
        observation.failed(instead == null ? failure : instead);
        return instead;
    }

    @Override
    public void close() {
        handle.bodies().ended(thread);
        if (interruptible) {
            handle.bodies().remove(body);
            endInterruptible(body);
        }
        observation.ended();
    }

    /** Ends what a loss may have interrupted. That interrupt may have hidden the one of an enclosing body. */
    static void endInterruptible(RunningBody body) {
        if (body.end()) {
            enclosing().forEach(outer -> outer.bodies().interruptPending());
        }
    }

    /** The body has begun, so its failure no longer says that nothing was done, even if another thread met it. */
    private static @Nullable LockException inBody(Throwable failure) {
        boolean joined = failure instanceof CompletionException || failure instanceof ExecutionException;
        return (joined ? failure.getCause() : failure) instanceof LockUnavailableException unavailable
                ? new LockBackendException(unavailable.code(), String.valueOf(unavailable.getMessage()), failure)
                : null;
    }

    /** The interrupt may belong to an outer body: the thread has one flag for all bodies. */
    private boolean isInterruptedByLoss(Throwable failure) {
        return handle.lease().phase() == Lease.Phase.LOST
                && (body.explains(failure)
                        || enclosing().anyMatch(outer -> outer.bodies().explain(failure)));
    }

    private static Stream<LeaseHandle> enclosing() {
        return CurrentLocks.innermostFirst().stream().map(LeaseHandle::of).filter(Objects::nonNull);
    }
}
