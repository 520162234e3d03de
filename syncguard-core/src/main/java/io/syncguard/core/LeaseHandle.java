package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The holder's view of its lease: bodies run under it, and it extends and releases the lease. */
final class LeaseHandle implements CurrentLocks.Scoped {

    private final EngineParts parts;
    private final LeaseBodies bodies = new LeaseBodies();
    private final Lease lease;
    private final LeaseRelease release;

    LeaseHandle(GrantedLease grant, EngineParts parts) {
        this.parts = parts;
        this.lease = new Lease(parts.time(), grant, grant.observation().held(grant.fence()), this::lost);
        this.release = new LeaseRelease(this, lease, parts);
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
        return parts.renewer().extend(lease, ttl);
    }

    @Override
    public boolean extendAs(LockRequest asked) {
        LockRequest request = parts.settings().configured(LockLimits.requireNonNull("request", asked));
        if (!lease.isHeld()) {
            return false;
        }
        lease.holdTime().join(request);
        return extend(parts.settings().ttl(request));
    }

    @Override
    public Fence rotateFence() {
        if (mode() == LockMode.SHARED) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "Lock '" + key() + "' is held in mode SHARED, and only an exclusive one can take another fence");
        }
        if (!parts.renewer().rotateFence(lease)) {
            throw notHeldException();
        }
        return fence();
    }

    @Override
    public boolean release() {
        return release.release(guarded(request()));
    }

    @Override
    public void close() {
        if (endsAsLost()) {
            throw lostException();
        }
    }

    /** Releases the lease, and returns whether another holder may have worked at the same time. */
    private boolean endsAsLost() {
        if (bodies.wereCommitted()) {
            // The lease was lost during a commit. Only the server knows if somebody else was granted the key since.
            return !release.releaseAfterCommit();
        }
        return !release() && state() == State.LOST;
    }

    /**
     * A body that joined has ended. After a loss during a commit, the end of the outer body reports what came later.
     */
    void joinedBodyEnded() {
        if (state() == State.LOST && !bodies.wereCommitted()) {
            throw lostException();
        }
    }

    @Override
    public @Nullable LockLostException loss() {
        return state() == State.LOST ? lostException() : null;
    }

    @Override
    public void onLost(Runnable callback) {
        if (!bodies.addCallback(LockLimits.requireNonNull("callback", callback))) {
            parts.dispatcher().call(callback);
        }
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        LockLimits.requireNonNull("task", task);
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
        release.bindTransaction(guarded(request));
    }

    /**
     * The lease, as transactions see it.
     *
     * @param request of the holder, or of a body that joined it
     */
    GuardedLease guarded(LockRequest request) {
        CommitGuard guard = request.commitGuard();
        return new Guarded(this, guard == CommitGuard.DEFAULT ? transactions().defaultGuard() : guard);
    }

    /** Begins a release that the caller sends. Returns {@code false} if {@link #close} has to do more than that. */
    boolean beginRelease() {
        return !bodies.wereCommitted() && release.beginRelease(guarded(request()));
    }

    /**
     * Whether nobody will release it any more: all threads that could do that are about to end with the application.
     * Work that goes on in no body, such as a future after a body, may still release it.
     *
     * @param holder the thread that acquired it
     */
    boolean isAbandoned(EndingThreads ending, Thread holder) {
        Thread releasing = lease.releasing();
        if (releasing != null) {
            return ending.contains(releasing);
        }
        // The release waits for a transaction, which is usually one of the holder.
        if (release.isPending()) {
            return ending.contains(holder);
        }
        List<Thread> threads = bodies.threads(holder);
        return threads.isEmpty()
                ? !bodies.haveBegun() && ending.exits(holder)
                : threads.stream().allMatch(ending::contains);
    }

    /** Whether a body has run since the last call, or the holder has released it. One thread calls it. */
    boolean wasUsed() {
        return bodies.wereUsed() || release.isReleased();
    }

    LeaseBodies bodies() {
        return bodies;
    }

    TransactionBoundary transactions() {
        return parts.transactions();
    }

    /** Whether its lease is in this store. Each engine has one of its own. */
    boolean isIn(LockBackend store) {
        return parts.backend() == store;
    }

    Lease lease() {
        return lease;
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return lease.toString();
    }

    LockLostException lostException(@Nullable Throwable cause) {
        return lostException(
                "while it was in use", "Another holder may have worked at the same time: check the last writes", cause);
    }

    /**
     * @param when it was lost
     * @param consequence a sentence without a full stop
     */
    LockLostException lostException(String when, String consequence, @Nullable Throwable cause) {
        Loss loss = lease.loss();
        LockLostException lost = new LockLostException(
                key(),
                loss.reason(),
                "Lock '" + key() + "' was lost " + when + ": " + loss.explanation() + ". " + consequence,
                cause);
        loss.errors().stream().filter(error -> error != cause).forEach(lost::addSuppressed);
        return lost;
    }

    private void lost(Lease ended, LockReason reason, String explanation) {
        List<Runnable> callbacks = bodies.lost();
        parts.monitor().remove(ended);
        parts.reports().lost(ended, reason, explanation, callbacks);
    }

    private LockLostException notHeldException() {
        bodies.withdrawInterrupt();
        return state() == State.LOST
                ? lostException()
                : new LockLostException(
                        key(),
                        LockReason.RELEASED,
                        "Lock '" + key() + "' is not held any more: it had been released before",
                        null);
    }

    private record Guarded(LeaseHandle handle, CommitGuard guard) implements GuardedLease {

        @Override
        public TransactionBoundary transactions() {
            return handle.transactions();
        }

        @Override
        public String key() {
            return handle.key();
        }

        @Override
        public String lockId() {
            return handle.lockId();
        }

        @Override
        public void requireHeld() {
            handle.requireHeld(handle);
        }

        @Override
        public LockLostException lost(String explanation) {
            handle.bodies.withdrawInterrupt();
            handle.lease.lose(LockReason.NOT_FOUND, explanation);
            return handle.lostException();
        }

        @Override
        public @Nullable LockLostException unreportedLoss() {
            return handle.release.isLostUnreported() ? handle.lostException() : null;
        }

        @Override
        public void committed() {
            if (handle.state() == State.LOST) {
                handle.bodies.committed();
            }
        }
    }
}
