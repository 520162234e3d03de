package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The handle of a body that runs without a lock. It is never lost. Thread-safe. */
final class UnlockedHandle implements CurrentLocks.Scoped {

    private static final CurrentLocks.Scope NOTHING = new CurrentLocks.Scope() {
        @Override
        public @Nullable LockException failed(Throwable failure) {
            return null;
        }

        @Override
        public void close() {}
    };

    private final LockRequest request;
    private final LongSupplier fences;
    private final String lockId;
    private final AtomicBoolean released = new AtomicBoolean();

    /** Written by the thread that rotates it, read by all. */
    private volatile Fence fence;

    UnlockedHandle(LockRequest request, LongSupplier fences) {
        this.request = request;
        this.fences = fences;
        this.fence = new Fence(fences.getAsLong());
        // It has the length of a real lock id. It is not secret, because it releases nothing.
        this.lockId = String.format(Locale.ROOT, "unlocked%014d", fence.value());
    }

    @Override
    public LockRequest request() {
        return request;
    }

    @Override
    public String key() {
        return request.key();
    }

    @Override
    public String lockId() {
        return lockId;
    }

    @Override
    public Fence fence() {
        return fence;
    }

    @Override
    public LockMode mode() {
        return request.mode();
    }

    @Override
    public State state() {
        return released.get() ? State.RELEASED : State.HELD;
    }

    @Override
    public Duration remaining() {
        return isHeld() ? LockLimits.MAX_DURATION : Duration.ZERO;
    }

    @Override
    public Instant expiresAt() {
        return Instant.ofEpochMilli(Long.MAX_VALUE);
    }

    @Override
    public boolean extend(Duration ttl) {
        LockLimits.ttl(ttl);
        return isHeld();
    }

    @Override
    public Fence rotateFence() {
        fence = new Fence(fences.getAsLong());
        return fence;
    }

    @Override
    public boolean release() {
        return released.compareAndSet(false, true);
    }

    @Override
    public void onLost(Runnable callback) {}

    @Override
    public void close() {
        release();
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        return () -> CurrentLocks.call(this, task);
    }

    @Override
    public CurrentLocks.Scope enter() {
        return NOTHING;
    }

    @Override
    public String toString() {
        return OneLine.of("no lock for '" + key() + "'");
    }
}
