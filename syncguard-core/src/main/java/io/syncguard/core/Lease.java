package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockLimits;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.KeyedLockId;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a holder knows of its lease: whether it is held, until when, and under which fence. It ends once, released or
 * lost. Thread-safe. It knows no class above it: its loss calls a hook.
 *
 * <p>The holder may act until the deadline: one ttl after the moment <em>before the last confirmed request was
 * sent</em>, on the local monotonic clock. At the server the lease lapses later, by the travel time of the request, and
 * the store keeps the key from others for the tolerance after that.
 */
final class Lease {

    /** {@code RELEASING}: the release was sent. Its answer may still be that the lease was lost. */
    enum Phase {
        HELD,
        RELEASING,
        RELEASED,
        LOST
    }

    /** Called once, on the thread that detects the loss. */
    @FunctionalInterface
    interface LossHook {
        void lost(Lease lease, LockReason reason, String explanation);
    }

    /** How many errors of extensions a loss shows. */
    private static final int MAX_ERRORS = 3;

    private static final AtomicLong NUMBERS = new AtomicLong();

    private final long number = NUMBERS.incrementAndGet();
    private final Time time;
    private final GrantedLease grant;
    private final HeldObservation observation;
    private final HoldTime holdTime;
    private final LossHook hook;
    private final RenewalSchedule schedule;

    /** Written under the monitor. Read by all. */
    private volatile Phase phase = Phase.HELD;

    /** The thread that sends the release. Written once, read by all. */
    private volatile @Nullable Thread releasing;

    /**
     * One extension at a time, so that answers do not overtake each other. The open {@link LeaseExtension} has the
     * permit.
     */
    private final Semaphore extensions = new Semaphore(1);

    /** Written under the permit, like the fields below. Read by all threads. */
    private volatile Confirmation confirmed;

    /** It never decreases. */
    private volatile Fence fence;

    /** The errors of the extensions since the last confirmed one, oldest first. */
    private volatile List<LockBackendException> errors = List.of();

    /** Written under the monitor before the phase that it explains. Read by all. */
    private volatile @Nullable Loss loss;

    /**
     * The longest time for which a confirmation counts: the shortest ttl of the requests in doubt, extensions and those
     * of the acquisition. One of them may reach the server after later extensions, and set the lease to that ttl.
     */
    private Duration countsAtMost = LockLimits.MAX_DURATION;

    Lease(Time time, GrantedLease grant, HeldObservation observation, LossHook hook) {
        this.time = time;
        this.grant = grant;
        this.observation = observation;
        this.holdTime = new HoldTime(time, grant);
        this.hook = hook;
        this.fence = grant.fence();
        this.confirmed = grant.confirmation();
        if (isInDoubt()) {
            inDoubt(confirmed.ttl());
        }
        this.schedule = new RenewalSchedule(grant.request(), grant.confirmation(), holdTime.grantedAt());
    }

    /** The number of the grant in this process. */
    long number() {
        return number;
    }

    LockRequest request() {
        return grant.request();
    }

    HeldObservation observation() {
        return observation;
    }

    String key() {
        return request().key();
    }

    String lockId() {
        return grant.lockId();
    }

    KeyedLockId keyedLockId() {
        return grant.keyedLockId();
    }

    Fence fence() {
        return fence;
    }

    /** Whether its lock id may be granted the key again after it has ended: an earlier request is still under way. */
    boolean isInDoubt() {
        return grant.settledAt() > 0 && time.nanoTime() < grant.settledAt();
    }

    /** When the heartbeat extends it next. */
    RenewalSchedule schedule() {
        return schedule;
    }

    Confirmation confirmed() {
        return confirmed;
    }

    long deadline() {
        return Math.min(confirmed.deadline(), holdTime.limit());
    }

    HoldTime holdTime() {
        return holdTime;
    }

    /** The phase at this moment: a lease past its deadline is lost. */
    Phase phase() {
        loseIfOver();
        return phase;
    }

    boolean isHeld() {
        return phase() == Phase.HELD;
    }

    /** Whether its holder sends the release now. */
    boolean isReleasing() {
        return phase == Phase.RELEASING;
    }

    Duration remaining() {
        return isHeld() ? Duration.ofNanos(Math.max(0, deadline() - time.nanoTime())) : Duration.ZERO;
    }

    /** Begins an extension. Waits while another one is open. */
    LeaseExtension extend() {
        try {
            if (!extensions.tryAcquire()) {
                extensions.acquire();
            }
        } catch (InterruptedException ex) {
            throw LeaseExtension.interrupted("lock '" + key() + "'", ex);
        }
        return new LeaseExtension(this);
    }

    /** Begins an extension; {@code null} while another one is open. */
    @Nullable
    LeaseExtension tryExtend() {
        return extensions.tryAcquire() ? new LeaseExtension(this) : null;
    }

    void extensionEnded() {
        extensions.release();
    }

    /**
     * Returns the confirmation that an extension sent now would bring. If its deadline is earlier than the present one,
     * it counts from now on: the request may take effect although its answer is lost.
     *
     * @param ttl {@code null} for that of the lease
     */
    Confirmation prepareExtension(@Nullable Duration ttl) {
        Confirmation asked =
                Confirmation.of(time.nanoTime(), ttl == null ? confirmed.ttl() : ttl, confirmed.expiresAt());
        if (asked.deadline() < confirmed.deadline()) {
            confirm(asked);
        }
        return asked;
    }

    /** An extension was confirmed. A lease past its deadline is lost all the same. */
    void extended(Confirmation confirmation) {
        loseIfOver();
        confirm(confirmation.atMost(countsAtMost));
        errors = List.of();
    }

    /** A fence was drawn. Checked together with the phase: the fence of a lease that has ended does not change. */
    synchronized void rotated(Fence next) {
        if (phase != Phase.HELD) {
            return;
        }
        if (next.compareTo(fence) <= 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + key() + "' got the fence " + next + ", which is not larger than its own, " + fence
                            + ": the server has forgotten its counter",
                    null);
        }
        fence = next;
    }

    /** The server left the lease unchanged, because an application transaction locks its row. */
    void unchanged(Confirmation before) {
        errors = List.of();
        confirmed = before;
        schedule.busy(time.nanoTime());
    }

    /** An extension failed. */
    void extensionFailed(LockBackendException error) {
        List<LockBackendException> last = errors.subList(Math.max(0, errors.size() - MAX_ERRORS + 1), errors.size());
        errors = Stream.concat(last.stream(), Stream.of(error)).toList();
    }

    /** An extension by this ttl is in doubt. */
    void inDoubt(Duration ttl) {
        countsAtMost = ttl.compareTo(countsAtMost) < 0 ? ttl : countsAtMost;
    }

    /** Begins the release. Returns true to one caller only, who sends it. */
    boolean beginRelease() {
        loseIfOver();
        if (!leave(Phase.HELD, Phase.RELEASING)) {
            return false;
        }
        releasing = Thread.currentThread();
        return true;
    }

    /** The thread that sends the release, or has sent it and informs listeners; {@code null} before. */
    @Nullable
    Thread releasing() {
        return releasing;
    }

    void released() {
        leave(Phase.RELEASING, Phase.RELEASED);
    }

    /** Ends the lease as lost. Only the first call has an effect, and none after the release has begun. */
    void lose(LockReason reason, String explanation) {
        lose(Phase.HELD, reason, explanation);
    }

    /** The release found that the lease had been lost before. */
    void loseAtRelease(LockReason reason, String explanation) {
        lose(Phase.RELEASING, reason, explanation);
    }

    /** Why it is not held any more. */
    Loss loss() {
        Loss known = loss;
        return known == null ? Loss.RELEASED : known;
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return "lock '" + OneLine.of(key()) + "', fence " + fence + ", " + phase;
    }

    private void loseIfOver() {
        long now = time.nanoTime();
        if (phase == Phase.HELD && now >= holdTime.limit()) {
            lose(
                    LockReason.HOLD_AT_MOST,
                    "it was held for "
                            + MessageText.of(Objects.requireNonNull(request().holdAtMost()))
                            + ", the longest time of its request");
        } else if (phase == Phase.HELD && now >= deadline()) {
            lose(LockReason.EXPIRED, "no extension was confirmed in time");
        }
    }

    private void lose(Phase from, LockReason reason, String explanation) {
        if (leave(from, new Loss(reason, explanation, errors))) {
            hook.lost(this, reason, explanation);
        }
    }

    private synchronized boolean leave(Phase from, Loss explanation) {
        loss = phase == from ? explanation : loss;
        return leave(from, Phase.LOST);
    }

    private synchronized boolean leave(Phase from, Phase to) {
        if (phase != from) {
            return false;
        }
        phase = to;
        return true;
    }

    private void confirm(Confirmation next) {
        confirmed = next;
        schedule.confirmed(next);
    }
}
