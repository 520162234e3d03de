package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.OnLost;
import io.syncguard.concurrent.RunningBody;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One body that runs under a lease, on one thread. */
final class BodyScope implements CurrentLocks.Scope {

    private final LeaseHandle handle;
    private final RunningBody body = new RunningBody(Thread.currentThread());
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
        if (interruptible) {
            handle.bodies().add(body);
        }
        // Checked after the body was added: a loss from here on finds the body.
        handle.requireHeld(view);
        handle.bindTransaction(view.request());
    }

    @Override
    public @Nullable LockLostException failed(Throwable failure) {
        LockLostException lost = isInterruptedByLoss(failure) ? handle.lostException(failure) : null;
        observation.failed(lost == null ? failure : lost);
        return lost;
    }

    @Override
    public void close() {
        if (interruptible) {
            handle.bodies().remove(body);
            if (body.end()) {
                // The interrupt of this lease may have hidden that of an enclosing body.
                enclosing().forEach(outer -> outer.bodies().interruptPending());
            }
        }
        observation.ended();
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
