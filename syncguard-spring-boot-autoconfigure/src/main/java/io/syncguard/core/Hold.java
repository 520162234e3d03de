package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
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
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The holder's side of one grant: what it believes, and until when it may.
 *
 * <p>It believes in the lease until one ttl after the moment <em>before the last confirmed request was sent</em>, on the
 * local monotonic clock. The server's lease ends later than that, by the time that the request travelled, and is kept from
 * others for {@link LockBackend#TOLERANCE_MILLIS} more.
 */
final class Hold implements LockHandle {

    /** {@code ENDING}: the release is on its way. It may still turn out to have been lost. */
    private enum Phase {
        HELD,
        ENDING,
        RELEASED,
        LOST
    }

    /**
     * What the server confirmed last.
     *
     * @param sentAt the time before the request was sent
     * @param length how long the lease lives from then on, at least
     * @param ttl how long it is to live when it is extended next
     */
    record Lease(long sentAt, Duration length, Duration ttl, Instant expiresAt) {

        Lease(long sentAt, Duration ttl, Instant expiresAt) {
            this(sentAt, ttl, ttl, expiresAt);
        }

        long deadline() {
            return sentAt + length.toNanos();
        }

        Lease atMost(Duration longest) {
            return length.compareTo(longest) <= 0 ? this : new Lease(sentAt, longest, ttl, expiresAt);
        }
    }

    /** Held while a request to extend this lease is under way, so that answers cannot overtake each other. */
    final ReentrantLock extending = new ReentrantLock();

    private final LockEngine engine;
    private final Time time;
    private final LockRequest request;
    private final String lockId;
    private final long grantedAt;

    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.HELD);

    /** Written by whoever holds {@link #extending}, read by all. It only grows. */
    private volatile Fence fence;

    /** Written by whoever holds {@link #extending}, read by all. */
    private volatile Lease lease;

    /**
     * No lease is believed in for longer: the shortest ttl of the extensions whose outcome is unknown. One of them may still reach
     * the server after any later one, and have the lease end that long from then on. Guarded by {@link #extending}.
     */
    private Duration believedAtMost = LockLimits.MAX_DURATION;

    /**
     * When the heartbeat wants to extend next. Written by whoever holds {@link #extending}, and by the heartbeat when another
     * thread has that; read by the heartbeat.
     */
    private volatile long renewAt;

    /** Switched on by a nested request; read by the heartbeat. */
    private volatile boolean heartbeat;

    /** The longest time between two heartbeats. Made shorter by a nested request; read by all who extend. */
    private volatile long longestInterval;

    private final Set<RunningBody> bodies = ConcurrentHashMap.newKeySet(1);

    /** Guarded by itself. */
    private final List<Runnable> callbacks = new ArrayList<>(0);

    Hold(LockEngine engine, Time time, LockRequest request, String lockId, Fence fence, Lease lease) {
        this.engine = engine;
        this.time = time;
        this.request = request;
        this.lockId = lockId;
        this.fence = fence;
        this.lease = lease;
        this.grantedAt = time.nanoTime();
        this.heartbeat = request.heartbeat();
        this.longestInterval = intervalOf(request);
        this.renewAt = lease.sentAt() + renewalInterval();
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
        return isHeld() ? Duration.ofNanos(Math.max(0, deadline() - time.nanoTime())) : Duration.ZERO;
    }

    @Override
    public Instant expiresAt() {
        return lease.expiresAt();
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
            throw lostException();
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
        } finally {
            if (interruptible) {
                bodies.remove(body);
                if (body.end()) {
                    CurrentLocks.innermostFirst().forEach(Hold::interruptIfPending);
                }
            }
        }
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
                ? lostException()
                : new LockLostException(
                        key(), "Lock '" + key() + "' is not held any more: it had been released before");
    }

    boolean isOf(LockEngine engine) {
        return this.engine == engine;
    }

    boolean hasHeartbeat() {
        return heartbeat;
    }

    /** For a nested request. The shorter of two intervals counts, also where two threads join at once. */
    synchronized void switchHeartbeatOn(LockRequest nested) {
        longestInterval = Math.min(longestInterval, intervalOf(nested));
        renewAt = Math.min(renewAt, lease.sentAt() + renewalInterval());
        heartbeat = true;
    }

    private static long intervalOf(LockRequest request) {
        return request.heartbeatInterval() == null
                ? Long.MAX_VALUE
                : request.heartbeatInterval().toNanos();
    }

    long deadline() {
        return lease.deadline();
    }

    Duration ttl() {
        return lease.ttl();
    }

    long renewAt() {
        return renewAt;
    }

    void renewAt(long nanoTime) {
        renewAt = nanoTime;
    }

    /** A third of what the lease lives, so that two more tries fit in before it is over; less if that was asked for. */
    long renewalInterval() {
        return Math.max(1, Math.min(longestInterval, lease.length().toNanos() / 3));
    }

    /** The time since the grant. */
    Duration held() {
        return Duration.ofNanos(time.nanoTime() - grantedAt);
    }

    /**
     * Believes in no more than a request leaves that is about to be sent: one that shortens the lease may take effect, and
     * its answer be lost. The caller holds {@link #extending}.
     *
     * @return what was believed before, to be {@link #restore restored} if the server leaves it
     */
    Lease expectAtMost(long sentAt, Duration ttl) {
        Lease before = lease;
        Lease asked = new Lease(sentAt, ttl, before.expiresAt());
        if (asked.deadline() < before.deadline()) {
            lease = asked;
            renewAt = sentAt + renewalInterval();
        }
        return before;
    }

    /** The caller holds {@link #extending}. */
    void extensionFailed(Duration ttl, LockBackendException error) {
        if (UnknownOutcome.is(error) && ttl.compareTo(believedAtMost) < 0) {
            believedAtMost = ttl;
        }
    }

    /** The server did nothing. The caller holds {@link #extending}. */
    void restore(Lease before) {
        lease = before;
    }

    /**
     * Takes over what the server confirmed, unless that came too late: past its deadline a handle is lost, whatever the
     * server says. The caller holds {@link #extending}.
     */
    boolean extended(Lease confirmed) {
        loseIfOver();
        lease = confirmed.atMost(believedAtMost);
        renewAt = confirmed.sentAt() + renewalInterval();
        loseIfOver();
        return phase() == Phase.HELD;
    }

    /** Takes over the next fence. The caller holds {@link #extending}. */
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
        if (phase() == Phase.HELD && time.nanoTime() >= deadline()) {
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
            bodies.forEach(RunningBody::interrupt);
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

    LockLostException lostException() {
        return new LockLostException(
                key(),
                "Lock '" + key() + "' was lost while it was in use: what was done last under it may have met another"
                        + " holder's work. Check it, and see the log for the reason");
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return "lock '" + key() + "', fence " + fence + ", " + phase();
    }
}
