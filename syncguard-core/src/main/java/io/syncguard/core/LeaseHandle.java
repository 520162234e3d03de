package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The holder's view of its lease: bodies run under it, and it extends and releases the lease. */
final class LeaseHandle implements CurrentLocks.Scoped {

    private final Lease lease;
    private final LeaseBodies bodies;
    private final DeferredRelease deferredRelease = new DeferredRelease();
    private final LeaseRenewer renewer;
    private final TransactionReleaser releaser;
    private final ListenerDispatcher dispatcher;

    LeaseHandle(
            Lease lease,
            LeaseBodies bodies,
            LeaseRenewer renewer,
            TransactionReleaser releaser,
            ListenerDispatcher dispatcher) {
        this.lease = lease;
        this.bodies = bodies;
        this.renewer = renewer;
        this.releaser = releaser;
        this.dispatcher = dispatcher;
    }

    @Override
    public LockRequest request() {
        return lease.request();
    }

    @Override
    public String key() {
        return lease.key();
    }

    @Override
    public String lockId() {
        return lease.lockId();
    }

    @Override
    public Fence fence() {
        return lease.fence();
    }

    @Override
    public LockMode mode() {
        return request().mode();
    }

    @Override
    public State state() {
        return switch (lease.phase()) {
            case HELD -> State.HELD;
            case RELEASING, RELEASED -> State.RELEASED;
            case LOST -> State.LOST;
        };
    }

    @Override
    public Duration remaining() {
        return lease.remaining();
    }

    @Override
    public Instant expiresAt() {
        return lease.confirmed().expiresAt();
    }

    @Override
    public boolean extend(Duration ttl) {
        return renewer.extend(lease, ttl);
    }

    @Override
    public Fence rotateFence() {
        if (mode() == LockMode.SHARED) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "Lock '" + key() + "' is held in mode SHARED, and only an exclusive one can take another fence");
        }
        if (!renewer.rotateFence(lease)) {
            throw notHeldException();
        }
        return fence();
    }

    @Override
    public boolean release() {
        return releaser.release(this);
    }

    /** Only the server knows whether the body met another holder after a commit during which the lease was lost. */
    @Override
    public void close() {
        if (bodies.wereCommitted() ? !releaser.releaseAfterCommit(this) : !release() && state() == State.LOST) {
            throw lostException();
        }
    }

    /** A body that joined has ended. After a loss during a commit, the end of the outer body reports what came later. */
    void joinedBodyEnded() {
        if (state() == State.LOST && !bodies.wereCommitted()) {
            throw lostException();
        }
    }

    @Override
    public void onLost(Runnable callback) {
        if (!bodies.addCallback(LockLimits.given("callback", callback))) {
            dispatcher.call(callback);
        }
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        LockLimits.given("task", task);
        return () -> runUnder(this, task);
    }

    @Override
    public CurrentLocks.Scope enter() {
        return BodyScope.open(this, this);
    }

    /** Runs the task under a view of this handle: this handle itself, or one that joined it. */
    <T extends @Nullable Object> T runUnder(LockHandle view, Callable<T> task) throws Exception {
        BodyScope scope = BodyScope.open(this, view);
        try {
            return CurrentLocks.call(view, task);
        } catch (Throwable failure) {
            LockException lost = scope.failed(failure);
            if (lost != null) {
                throw lost;
            }
            throw failure;
        } finally {
            scope.close();
        }
    }

    /** Throws unless the lock is held: no body may begin under a lock that is not. */
    void requireHeld(LockHandle view) {
        if (!view.isHeld()) {
            throw notHeldException();
        }
    }

    LockLostException lostException() {
        return lostException(null);
    }

    /** The handle behind a view; {@code null} for a handle that is not of this library. */
    static @Nullable LeaseHandle of(LockHandle handle) {
        return handle instanceof JoinedHandle joined ? joined.outer() : handle instanceof LeaseHandle own ? own : null;
    }

    /** Binds the running thread's transaction, if there is one, to the lease. */
    void bindTransaction(LockRequest request) {
        releaser.bindTransaction(this, request);
    }

    /** Which transactions its release waits for. */
    DeferredRelease deferredRelease() {
        return deferredRelease;
    }

    LeaseBodies bodies() {
        return bodies;
    }

    TransactionBoundary transactions() {
        return releaser.transactions();
    }

    boolean isOf(TransactionReleaser releaser) {
        return this.releaser == releaser;
    }

    Lease lease() {
        return lease;
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return lease.toString();
    }

    LockLostException lostException(@Nullable Throwable cause) {
        return new LockLostException(
                key(),
                "Lock '" + key() + "' was lost while it was in use. Another holder may have worked at the same time:"
                        + " check the last writes, and see the log for the reason",
                cause);
    }

    private LockLostException notHeldException() {
        return state() == State.LOST
                ? lostException()
                : new LockLostException(
                        key(), "Lock '" + key() + "' is not held any more: it had been released before");
    }
}
