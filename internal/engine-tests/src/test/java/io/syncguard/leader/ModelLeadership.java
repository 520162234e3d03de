package io.syncguard.leader;

import static io.syncguard.testing.Interleavings.require;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.ModelTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What was reported, and a lock that is held until it is released. */
final class ModelLeadership implements TermEvents, LockHandle {

    final TermRunner runner = new TermRunner("test", Duration.ZERO, Duration.ofMinutes(1), this, new ModelTime());

    volatile boolean released;

    /** Whether it was released before its body had ended. */
    volatile boolean releasedEarly;

    private volatile int revocations;
    private volatile boolean reportedLate;
    private volatile int fence = 1;

    @Override
    public void elected(Fence fence) {
        reportedLate |= revocations > 0;
    }

    @Override
    public void fenceRotated(Fence fence) {
        reportedLate |= revocations > 0;
    }

    @Override
    public CompletableFuture<Void> revoked(Fence fence, LeaderRevocation reason) {
        revocations++;
        return CompletableFuture.completedFuture(null);
    }

    LeaderTerm term() {
        return new LeaderTerm("test", this, this, () -> {});
    }

    void requireEnded() {
        require(revocations == 1, "the end is reported once");
        require(!reportedLate, "nothing is reported after the end");
    }

    @Override
    public Fence fence() {
        return new Fence(fence);
    }

    @Override
    public Fence rotateFence() {
        fence++;
        return fence();
    }

    @Override
    public State state() {
        return released ? State.RELEASED : State.HELD;
    }

    @Override
    public boolean release() {
        released = true;
        return true;
    }

    @Override
    public Duration remaining() {
        return Duration.ofMinutes(1);
    }

    @Override
    public void onLost(Runnable callback) {
        // It is not lost.
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        return task;
    }

    @Override
    public LockRequest request() {
        return LockRequest.of(key());
    }

    @Override
    public String key() {
        return "leader:test";
    }

    @Override
    public String lockId() {
        return "A".repeat(22);
    }

    @Override
    public LockMode mode() {
        return LockMode.EXCLUSIVE;
    }

    @Override
    public Instant expiresAt() {
        return Instant.EPOCH;
    }

    @Override
    public boolean extend(Duration ttl) {
        return true;
    }

    @Override
    public void close() {
        release();
    }
}
