package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.OnLost;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The holder's side of one grant: it is held until it is released or lost, once and for good. Its {@link Belief} says until when it
 * may be held at most.
 */
final class Hold implements LockHandle {

    /** {@code ENDING}: the release is on its way. It may still turn out to have been lost. */
    private enum Phase {
        HELD,
        ENDING,
        RELEASED,
        LOST
    }

    private static final Log log = LogFactory.getLog(LockEngine.class);

    private final LockEngine engine;
    private final Time time;
    private final LockRequest request;
    private final String lockId;
    private final Belief belief;
    private final long grantedAt;

    private final DeferredRelease deferredRelease = new DeferredRelease();

    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.HELD);

    /** Written by whoever holds {@link Belief#extending}, read by all. It only grows. */
    private volatile Fence fence;

    private final Set<RunningBody> bodies = ConcurrentHashMap.newKeySet(1);

    /** Guarded by itself. */
    private final List<Runnable> callbacks = new ArrayList<>(0);

    Hold(LockEngine engine, Time time, LockRequest request, String lockId, Fence fence, Belief.Lease lease) {
        this.engine = engine;
        this.time = time;
        this.request = request;
        this.lockId = lockId;
        this.fence = fence;
        this.grantedAt = time.nanoTime();
        this.belief = new Belief(request, lease, grantedAt);
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
        loseIfOver();
        return switch (phase()) {
            case HELD -> State.HELD;
            case ENDING, RELEASED -> State.RELEASED;
            case LOST -> State.LOST;
        };
    }

    @Override
    public Duration remaining() {
        return isHeld() ? Duration.ofNanos(Math.max(0, belief.deadline() - time.nanoTime())) : Duration.ZERO;
    }

    @Override
    public Instant expiresAt() {
        return belief.expiresAt();
    }

    @Override
    public boolean extend(Duration ttl) {
        return engine.extend(this, ttl);
    }

    @Override
    public Fence rotateFence() {
        if (mode() == LockMode.SHARED) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "Lock '" + key() + "' is held in mode SHARED, and only an exclusive one can take another fence");
        }
        return engine.rotateFence(this);
    }

    @Override
    public boolean release() {
        return engine.release(this);
    }

    @Override
    public void close() {
        if (!release() && state() == State.LOST) {
            throw lostException(null);
        }
    }

    @Override
    public void onLost(Runnable callback) {
        synchronized (callbacks) {
            if (phase() != Phase.LOST) {
                callbacks.add(callback);
                return;
            }
        }
        engine.tell(callback);
    }

    @Override
    public <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        return () -> runUnder(this, task);
    }

    /** Runs the task under the given view of this hold: this hold itself, or one that joined it. */
    <T extends @Nullable Object> T runUnder(LockHandle view, Callable<T> task) throws Exception {
        RunningBody body = new RunningBody(Thread.currentThread());
        boolean interruptible = view.request().onLost() == OnLost.INTERRUPT;
        if (interruptible) {
            bodies.add(body);
        }
        try {
            // Looked at after the body was added: whoever loses the lock from here on finds the body.
            requireHeld(view);
            return CurrentLocks.call(view, task);
        } catch (Throwable failure) {
            if (isInterruptedByLoss(body, failure)) {
                throw lostException(failure);
            }
            throw failure;
        } finally {
            if (interruptible) {
                bodies.remove(body);
                if (body.end()) {
                    CurrentLocks.innermostFirst().forEach(Hold::interruptIfPending);
                }
            }
        }
    }

    /** The interrupt may have been that of a body around this one on the same thread: one flag tells all of them. */
    private boolean isInterruptedByLoss(RunningBody body, Throwable failure) {
        return phase() == Phase.LOST
                && (body.explains(failure)
                        || CurrentLocks.innermostFirst().stream()
                                .map(Hold::of)
                                .filter(Objects::nonNull)
                                .flatMap(outer -> outer.bodies.stream())
                                .anyMatch(outer -> outer.explains(failure)));
    }

    /** The hold that a handle is a view of; {@code null} for a handle of somebody else's making. */
    static @Nullable Hold of(LockHandle handle) {
        return handle instanceof JoinedHold joined ? joined.outer() : handle instanceof Hold own ? own : null;
    }

    private static void interruptIfPending(LockHandle outer) {
        Hold hold = of(outer);
        if (hold != null) {
            hold.bodies.forEach(RunningBody::interruptIfPending);
        }
    }

    /** Throws unless the lock is held: nothing may begin to run under it any more. */
    void requireHeld(LockHandle view) {
        if (!view.isHeld()) {
            throw notHeldException();
        }
    }

    LockLostException notHeldException() {
        return phase() == Phase.LOST
                ? lostException(null)
                : new LockLostException(
                        key(), "Lock '" + key() + "' is not held any more: it had been released before");
    }

    boolean isOf(LockEngine engine) {
        return this.engine == engine;
    }

    Belief belief() {
        return belief;
    }

    DeferredRelease deferredRelease() {
        return deferredRelease;
    }

    /** The time since the grant. */
    Duration held() {
        return Duration.ofNanos(time.nanoTime() - grantedAt);
    }

    /**
     * Takes over what the server confirmed, unless that came too late: past its deadline a handle is lost, whatever the
     * server says. The caller holds {@link Belief#extending}.
     */
    boolean extended(Belief.Lease confirmed) {
        loseIfOver();
        belief.extended(confirmed);
        loseIfOver();
        return phase() == Phase.HELD;
    }

    /** Takes over the next fence. The caller holds {@link Belief#extending}. */
    void rotated(Fence next) {
        if (next.compareTo(fence) <= 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + key() + "' was to take the fence " + next + ", which is not larger than its own, "
                            + fence + ": the server has forgotten its counter",
                    null);
        }
        fence = next;
    }

    /** Loses the lock if its deadline has passed. */
    void loseIfOver() {
        if (phase() == Phase.HELD && time.nanoTime() >= belief.deadline()) {
            lose(LockReason.EXPIRED, "no extension was confirmed in time");
        }
    }

    /** Ends the belief for good. Only the first caller makes a difference, and none once a release has begun. */
    void lose(LockReason reason, String explanation) {
        lose(Phase.HELD, reason, explanation);
    }

    /** The release found that the lease had been lost before. */
    void loseAtRelease(LockReason reason, String explanation) {
        lose(Phase.ENDING, reason, explanation);
    }

    /** Leaves {@code HELD} for a release. Only one caller is told that it has to send it. */
    boolean beginRelease() {
        loseIfOver();
        return phase.compareAndSet(Phase.HELD, Phase.ENDING);
    }

    void endRelease() {
        phase.compareAndSet(Phase.ENDING, Phase.RELEASED);
    }

    private void lose(Phase from, LockReason reason, String explanation) {
        if (phase.compareAndSet(from, Phase.LOST)) {
            bodies.forEach(
                    body -> Shielded.run(body::interrupt, log, () -> "A body could not be told that its lock is lost"));
            engine.lost(this, reason, explanation, takeCallbacks());
        }
    }

    private Phase phase() {
        return Objects.requireNonNull(phase.get());
    }

    private List<Runnable> takeCallbacks() {
        synchronized (callbacks) {
            return List.copyOf(callbacks);
        }
    }

    LockLostException lostException(@Nullable Throwable cause) {
        return new LockLostException(
                key(),
                "Lock '" + key() + "' was lost while it was in use: what was done last under it may have met another"
                        + " holder's work. Check it, and see the log for the reason",
                cause);
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return "lock '" + key() + "', fence " + fence + ", " + phase();
    }
}
