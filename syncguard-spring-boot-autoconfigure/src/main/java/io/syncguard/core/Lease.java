package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a holder knows of its lease: whether it is held, until when, and under which fence. It ends once, released or lost. Threads may
 * share it. It knows nobody above it: its loss calls a hook.
 *
 * <p>The holder may act until the deadline: one ttl after the moment <em>before the last confirmed request was sent</em>, on the local
 * monotonic clock. The server's lease ends later, by the time that the request travelled, and the store keeps the key from others for
 * a tolerance more.
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

    private final Time time;
    private final LockRequest request;
    private final String lockId;
    private final long grantedAt;
    private final LossHook hook;
    private final RenewalSchedule schedule;
    private final DeferredRelease deferredRelease = new DeferredRelease();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition extensionEnded = lock.newCondition();

    /** Written under the lock, as all that follows. Read by all. */
    private volatile Phase phase = Phase.HELD;

    private volatile Confirmation confirmed;

    /** It only grows. */
    private volatile Fence fence;

    /** An extension is under way. A second one waits, so that answers do not overtake each other. */
    private boolean extending;

    /**
     * The longest time for which a confirmation counts: the shortest ttl of the extensions that are in doubt. One of them may reach
     * the server after any later one, and end the lease so long from then on.
     */
    private Duration countsAtMost = LockLimits.MAX_DURATION;

    Lease(Time time, LockRequest request, GrantedLease grant, LossHook hook) {
        this.time = time;
        this.request = request;
        this.lockId = grant.lockId();
        this.grantedAt = time.nanoTime();
        this.hook = hook;
        this.fence = grant.fence();
        this.confirmed = grant.confirmation();
        this.schedule = new RenewalSchedule(request, grant.confirmation(), grantedAt);
    }

    LockRequest request() {
        return request;
    }

    String key() {
        return request.key();
    }

    String lockId() {
        return lockId;
    }

    Fence fence() {
        return fence;
    }

    /** When the heartbeat extends it next. */
    RenewalSchedule schedule() {
        return schedule;
    }

    /** Which transactions its release waits for. */
    DeferredRelease deferredRelease() {
        return deferredRelease;
    }

    Confirmation confirmed() {
        return confirmed;
    }

    long deadline() {
        return confirmed.deadline();
    }

    Duration ttl() {
        return confirmed.ttl();
    }

    Instant expiresAt() {
        return confirmed.expiresAt();
    }

    /** The time since the grant. */
    Duration held() {
        return Duration.ofNanos(time.nanoTime() - grantedAt);
    }

    /** The phase at this moment: a lease past its deadline is lost. */
    Phase phase() {
        loseIfOver();
        return phase;
    }

    boolean isHeld() {
        return phase() == Phase.HELD;
    }

    Duration remaining() {
        return isHeld() ? Duration.ofNanos(Math.max(0, deadline() - time.nanoTime())) : Duration.ZERO;
    }

    /** Begins an extension, when none is under way any more. */
    LeaseExtension extend() {
        lock.lock();
        try {
            while (extending) {
                extensionEnded.awaitUninterruptibly();
            }
            extending = true;
            return new LeaseExtension(this, confirmed);
        } finally {
            lock.unlock();
        }
    }

    /** Begins an extension; {@code null} while another one is under way. */
    @Nullable
    LeaseExtension tryExtend() {
        lock.lock();
        try {
            if (extending) {
                return null;
            }
            extending = true;
            return new LeaseExtension(this, confirmed);
        } finally {
            lock.unlock();
        }
    }

    void extensionEnded() {
        lock.lock();
        try {
            extending = false;
            extensionEnded.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The confirmation that an extension would bring which is sent now. If it is shorter, it counts from here on: the request may take
     * effect and its answer be lost.
     *
     * @param ttl {@code null} for that of the lease
     */
    Confirmation ask(@Nullable Duration ttl) {
        lock.lock();
        try {
            Confirmation asked =
                    Confirmation.of(time.nanoTime(), ttl == null ? confirmed.ttl() : ttl, confirmed.expiresAt());
            if (asked.deadline() < confirmed.deadline()) {
                confirm(asked);
            }
            return asked;
        } finally {
            lock.unlock();
        }
    }

    /**
     * An extension was confirmed. Past its deadline a lease is lost all the same.
     *
     * @param next the fence that was taken, if one was
     * @return whether the lease is still held
     */
    boolean extended(Confirmation confirmation, @Nullable Fence next) {
        loseIfOver();
        lock.lock();
        try {
            confirm(confirmation.atMost(countsAtMost));
            if (next != null && phase == Phase.HELD) {
                fence = larger(next);
            }
        } finally {
            lock.unlock();
        }
        return isHeld();
    }

    /** The server left the lease unchanged, because an application transaction locks its row. */
    void unchanged(Confirmation before) {
        lock.lock();
        try {
            confirmed = before;
            schedule.busy(time.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** An extension by this ttl is in doubt. */
    void inDoubt(Duration ttl) {
        lock.lock();
        try {
            if (ttl.compareTo(countsAtMost) < 0) {
                countsAtMost = ttl;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Begins the release. Only one caller is told to send it. */
    boolean beginRelease() {
        loseIfOver();
        return leave(Phase.HELD, Phase.RELEASING);
    }

    void released() {
        leave(Phase.RELEASING, Phase.RELEASED);
    }

    /** Ends it as lost. Only the first caller makes a difference, and none once the release has begun. */
    void lose(LockReason reason, String explanation) {
        lose(Phase.HELD, reason, explanation);
    }

    /** The release found that the lease had been lost before. */
    void loseAtRelease(LockReason reason, String explanation) {
        lose(Phase.RELEASING, reason, explanation);
    }

    LockLostException lostException(@Nullable Throwable cause) {
        return new LockLostException(
                key(),
                "Lock '" + key() + "' was lost while it was in use: what was done last under it may have met another"
                        + " holder's work. Check it, and see the log for the reason",
                cause);
    }

    LockLostException notHeldException() {
        return phase == Phase.LOST
                ? lostException(null)
                : new LockLostException(
                        key(), "Lock '" + key() + "' is not held any more: it had been released before");
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return "lock '" + key() + "', fence " + fence + ", " + phase;
    }

    private void loseIfOver() {
        if (phase == Phase.HELD && time.nanoTime() >= deadline()) {
            lose(LockReason.EXPIRED, "no extension was confirmed in time");
        }
    }

    private void lose(Phase from, LockReason reason, String explanation) {
        if (leave(from, Phase.LOST)) {
            hook.lost(this, reason, explanation);
        }
    }

    private boolean leave(Phase from, Phase to) {
        lock.lock();
        try {
            if (phase != from) {
                return false;
            }
            phase = to;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void confirm(Confirmation next) {
        confirmed = next;
        schedule.confirmed(next);
    }

    private Fence larger(Fence next) {
        if (next.compareTo(fence) <= 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + key() + "' was to take the fence " + next + ", which is not larger than its own, "
                            + fence + ": the server has forgotten its counter",
                    null);
        }
        return next;
    }
}
