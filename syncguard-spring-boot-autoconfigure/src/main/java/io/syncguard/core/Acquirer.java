package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one lock, with as many attempts as the wait time has room for.
 *
 * <ol>
 *   <li>A lock id is made for the acquisition.
 *   <li>The clock is read, then the server is asked. An error ends the acquisition; where its outcome is unknown, the lock
 *       id is released in the background.
 *   <li>A grant becomes a {@link Hold} that believes in it until one ttl after the clock was read.
 *   <li>An attempt that begins at the deadline or later is the last one and does not queue: so the last attempt happens at the
 *       deadline, and a wait time of zero means one attempt.
 *   <li>After any other attempt the caller has a place in the queue. It sleeps until {@link Waiters} wake it or the deadline
 *       has come, and asks again, unless it is told that a release has handed it the key. The place is given up when the
 *       acquisition ends in any other way than by an answer.
 * </ol>
 */
final class Acquirer {

    private static final Log log = LogFactory.getLog(Acquirer.class);

    /** From here on a tenth of the counter's range is used up, and people are warned, at most once a minute. */
    private static final long FENCE_WARNING = 90_000_000_000_000L;

    /** An answer that came this long after the deadline, 50 ms, was slow: there is no time for a further attempt. */
    private static final long LATE_ANSWER_NANOS = Duration.ofMillis(50).toNanos();

    private static final long FENCE_WARNING_PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    private final LockEngine engine;
    private final LockBackend backend;
    private final EngineSettings settings;
    private final Time time;
    private final Waiters waiters;
    private final LockIds lockIds = new LockIds();
    private final AtomicLong nextFenceWarning = new AtomicLong();

    Acquirer(LockEngine engine, LockBackend backend, EngineSettings settings, Time time, Waiters waiters) {
        this.engine = engine;
        this.backend = backend;
        this.settings = settings;
        this.time = time;
        this.waiters = waiters;
    }

    /**
     * Acquires the lock or gives up.
     *
     * @throws LockNotAcquiredException when the key was somebody else's to the end of the wait time
     */
    Hold acquire(LockRequest request, Duration waitTime) {
        Acquisition acquisition = new Acquisition(request, waitTime);
        Hold hold = acquire(acquisition);
        if (hold == null) {
            throw acquisition.notAcquired();
        }
        return hold;
    }

    /**
     * Acquires the lock with one attempt.
     *
     * @return the hold, or {@code null} when the key is somebody else's
     */
    @Nullable
    Hold tryAcquire(LockRequest request) {
        return acquire(new Acquisition(request, Duration.ZERO));
    }

    private @Nullable Hold acquire(Acquisition acquisition) {
        LockRequest request = acquisition.request;
        Hold hold;
        try {
            hold = acquisition.attemptUntilDeadline();
        } catch (LockException ex) {
            engine.events().failed(request, acquisition.elapsed(), ex);
            throw ex;
        }
        if (hold == null) {
            engine.events().refused(request, acquisition.elapsed());
            return null;
        }
        engine.events().of(request, hold.fence(), acquisition.elapsed(), LockListener::acquired);
        // Asked after the hold was made known: either the engine that stops finds it, or we find that it stops.
        if (!engine.grantsLocks()) {
            engine.releaseNow(hold);
            throw acquisition.shuttingDown();
        }
        return hold;
    }

    /** Warns of a fence that was taken, if few are left. */
    void warnOf(Fence fence, String key) {
        long now = time.nanoTime();
        long next = nextFenceWarning.get();
        if (fence.value() > FENCE_WARNING
                && now >= next
                && nextFenceWarning.compareAndSet(next, now + FENCE_WARNING_PAUSE_NANOS)) {
            log.warn("The fence counter of lock '" + key + "' is at " + fence + " and ends at " + Fence.MAX_VALUE);
        }
    }

    /** The state of one call. */
    private final class Acquisition {

        private final LockRequest request;
        private final Claim claim;
        private final long began;
        private final long deadline;

        /** Whether there is a place in the queue. */
        private boolean queued;

        /** Who had the key at the last attempt, if somebody did. */
        private Attempt.@Nullable Holder holder;

        /** Whether the server may yet do what nobody will take notice of. */
        private boolean unknown;

        Acquisition(LockRequest request, Duration waitTime) {
            this.request = request;
            Duration ttl = request.ttl() == null ? settings.ttl() : request.ttl();
            if (request.heartbeatInterval() != null) {
                LockLimits.heartbeat(request.heartbeatInterval(), ttl);
            }
            String owner = request.owner() == null ? settings.owner() : request.owner();
            // The first lease of a grant that is handed over is short: an extension has to follow, and not shorten it.
            boolean handOver = request.mode() == LockMode.EXCLUSIVE
                    && request.heartbeat()
                    && ttl.compareTo(backend.placeTtl()) >= 0;
            this.claim = new Claim(request.key(), request.mode(), lockIds.next(), ttl, owner, handOver, false, null);
            this.began = time.nanoTime();
            this.deadline = began + waitTime.toNanos();
        }

        @Nullable
        Hold attemptUntilDeadline() {
            try (Waiter waiter = waiters.newWaiter(claim)) {
                return attemptUntilDeadline(waiter);
            } catch (RuntimeException | Error ex) {
                if (unknown) {
                    engine.releaseUnknown(claim);
                } else if (queued) {
                    engine.leaveQueue(claim);
                }
                throw ex;
            } finally {
                if (queued) {
                    engine.events().of(request, null, elapsed(), LockListener::waitEnded);
                }
            }
        }

        private @Nullable Hold attemptUntilDeadline(Waiter waiter) {
            while (true) {
                long sentAt = time.nanoTime();
                Claim next = sentAt < deadline ? waiter.nextClaim() : claim;
                Attempt answer = attempt(queued ? next.fromQueue() : next);
                if (answer instanceof Attempt.Grant grant) {
                    return hold(grant, new Belief.Lease(sentAt, claim.ttl(), grant.expiresAt()));
                }
                if (answer instanceof Attempt.Refusal refusal) {
                    holder = refusal.holder();
                    return null;
                }
                holder = ((Attempt.Queued) answer).holder();
                if (!queued) {
                    queued = true;
                    log.debug(whyNot() + "; waiting");
                    engine.events().of(request, null, elapsed(), LockListener::waitStarted);
                }
                if (time.nanoTime() >= deadline + LATE_ANSWER_NANOS) {
                    engine.leaveQueue(claim);
                    return null;
                }
                Attempt.Grant grant = sleep(waiter, sentAt, ((Attempt.Queued) answer).nextLook());
                if (grant != null) {
                    Belief.Lease first =
                            new Belief.Lease(waiter.confirmedAt(), backend.placeTtl(), claim.ttl(), grant.expiresAt());
                    // After that nobody may rely on it, but a claim may find it alive.
                    if (engine.grantsLocks() && time.nanoTime() < first.deadline()) {
                        return hold(grant, first);
                    }
                }
            }
        }

        private Attempt attempt(Claim claim) {
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(null);
            }
            if (!engine.grantsLocks()) {
                throw shuttingDown();
            }
            try {
                return backend.acquire(claim);
            } catch (RuntimeException | Error ex) {
                unknown = UnknownOutcome.is(ex);
                // A driver or pool that was interrupted reports a broken connection.
                if (Thread.currentThread().isInterrupted()) {
                    throw interrupted(ex);
                }
                throw ex;
            }
        }

        private Attempt.@Nullable Grant sleep(Waiter waiter, long sentAt, Duration nextLook) {
            try {
                return waiter.sleep(sentAt, nextLook, deadline);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw interrupted(ex);
            }
        }

        private Hold hold(Attempt.Grant grant, Belief.Lease lease) {
            if (time.nanoTime() >= lease.deadline()) {
                unknown = true;
                throw new LockLostException(
                        claim.key(),
                        "Lock '" + claim.key() + "' was granted, but its ttl of "
                                + claim.ttl().toMillis() + " ms was over before the answer arrived: use a longer ttl");
            }
            Hold hold = new Hold(engine, time, request, claim.lockId(), grant.fence(), lease);
            engine.granted(hold);
            warnOf(grant.fence(), claim.key());
            return hold;
        }

        LockNotAcquiredException notAcquired() {
            Duration waited = elapsed();
            return new LockNotAcquiredException(
                    claim.key(),
                    holder == null || holder.owner().isBlank() ? null : holder.owner(),
                    holder == null ? null : holder.since(),
                    waited,
                    whyNot() + "; gave up after " + waited.toMillis() + " ms");
        }

        private String whyNot() {
            if (holder == null) {
                return "Others wait for lock '" + claim.key() + "' in front of this request";
            }
            return "Lock '" + claim.key() + "' is held"
                    + (holder.owner().isBlank() ? "" : " by " + holder.owner())
                    + " since " + holder.since()
                    + (holder.alone() ? "" : ", and by others");
        }

        private LockException shuttingDown() {
            return new LockException(
                    LockErrorCode.ABORTED,
                    "No new locks, the application is shutting down: lock '" + claim.key() + "'");
        }

        private LockException interrupted(@Nullable Throwable cause) {
            return new LockException(
                    LockErrorCode.ABORTED, "Interrupted while acquiring lock '" + claim.key() + "'", cause);
        }

        Duration elapsed() {
            return Duration.ofNanos(time.nanoTime() - began);
        }
    }
}
