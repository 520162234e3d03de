package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A nested request's view of the handle that it joined: the same lease, except that its release does not end the lease.
 */
final class JoinedHandle implements CurrentLocks.Scoped {

    private final LeaseHandle outer;
    private final LockRequest request;
    private final AtomicBoolean released = new AtomicBoolean();

    JoinedHandle(LeaseHandle outer, LockRequest request) {
        this.outer = outer;
        this.request = request;
    }

    LeaseHandle outer() {
        return outer;
    }

    @Override
    public LockRequest request() {
        return request;
    }

    @Override
    public String key() {
        return outer.key();
    }

    @Override
    public String lockId() {
        return outer.lockId();
    }

    @Override
    public Fence fence() {
        return outer.fence();
    }

    @Override
    public LockMode mode() {
        return outer.mode();
    }

    @Override
    public State state() {
        State state = outer.state();
        return state == State.HELD && released.get() ? State.RELEASED : state;
    }

    @Override
    public Duration remaining() {
        return isHeld() ? outer.remaining() : Duration.ZERO;
    }

    @Override
    public Instant expiresAt() {
        return outer.expiresAt();
    }

    @Override
    public boolean extend(Duration ttl) {
        return isHeld() && outer.extend(ttl);
    }

    @Override
    public boolean extendAs(LockRequest asked) {
        return isHeld() && outer.extendAs(asked);
    }

    @Override
    public Fence rotateFence() {
        outer.requireHeld(this);
        return outer.rotateFence();
    }

    @Override
    public boolean release() {
        return released.compareAndSet(false, true) && outer.isHeld();
    }

    @Override
    public void close() {
        release();
        outer.joinedBodyEnded();
    }

    @Override
    public @Nullable LockLostException loss() {
        return outer.loss();
    }

    @Override
    public void onLost(Runnable callback) {
        outer.onLost(callback);
    }

    @Override
    public CurrentLocks.Scope enter() {
        return BodyScope.open(outer, this);
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        LockLimits.requireNonNull("task", task);
        return () -> outer.runUnder(this, task);
    }

    @Override
    public String toString() {
        return outer + ", joined";
    }
}
