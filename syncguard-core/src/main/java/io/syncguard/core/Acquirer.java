package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockUnavailableException;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one lock, with as many attempts as fit into the wait time.
 *
 * <ol>
 *   <li>A lock id is made for the acquisition.
 *   <li>The clock is read, then the request is sent. An error ends the acquisition, unless the caller has a queue entry
 *       and the error passes: then it pauses and tries again, until the deadline. If the outcome of a request is in
 *       doubt, the lock id is released in the background when the acquisition ends, and when its lease ends.
 *   <li>The deadline of a grant is one ttl after that time.
 *   <li>An attempt that begins at the deadline or later is the last one and does not queue. So the last attempt happens
 *       at the deadline, and a wait time of zero means one attempt.
 *   <li>After any other attempt the caller has a queue entry. It sleeps until it is woken or the deadline has come, and
 *       tries again, unless a release has handed it the key. It gives up if the application begins to stop and it holds
 *       no lock. The queue entry is deleted when the acquisition ends in any other way than by an answer.
 * </ol>
 */
final class Acquirer {

    private static final Log log = LogFactory.getLog(Acquirer.class);

    /** An answer 50 ms after the deadline is late: no further attempt follows. */
    private static final long LATE_ANSWER_NANOS = Duration.ofMillis(50).toNanos();

    private final LockBackend backend;
    private final EngineSettings settings;
    private final Time time;
    private final WaiterRegistry waiters;
    private final BackgroundReleaser releaser;
    private final ListenerDispatcher dispatcher;
    private final BooleanSupplier grantsLocks;
    private final BooleanSupplier waitsOn;
    private final Predicate<String> ownLocks;
    private final Consumer<AcquireRequest> granted;
    private final LockIds lockIds = new LockIds();

    /**
     * @param grantsLocks turns false when the engine stops
     * @param waitsOn whether the running thread waits on when waiters are aborted
     * @param ownLocks whether this engine holds a key
     * @param granted receives each request that the server has granted, before any listener runs
     */
    Acquirer(
            LockBackend backend,
            EngineSettings settings,
            Time time,
            WaiterRegistry waiters,
            BackgroundReleaser releaser,
            ListenerDispatcher dispatcher,
            BooleanSupplier grantsLocks,
            BooleanSupplier waitsOn,
            Predicate<String> ownLocks,
            Consumer<AcquireRequest> granted) {
        this.backend = backend;
        this.settings = settings;
        this.time = time;
        this.waiters = waiters;
        this.releaser = releaser;
        this.dispatcher = dispatcher;
        this.grantsLocks = grantsLocks;
        this.waitsOn = waitsOn;
        this.ownLocks = ownLocks;
        this.granted = granted;
    }

    /**
     * Acquires the lock or gives up.
     *
     * @throws LockNotAcquiredException when the key was not granted within the wait time
     */
    GrantedLease acquire(LockRequest request) {
        Acquisition acquisition = new Acquisition(request, settings.waitTime(request));
        GrantedLease grant = acquisition.acquire();
        if (grant == null) {
            throw acquisition.refusal();
        }
        return grant;
    }

    /**
     * Acquires the lock with one attempt.
     *
     * @return {@code null} when the request was refused
     */
    @Nullable
    GrantedLease tryAcquire(LockRequest request) {
        return new Acquisition(request, Duration.ZERO).acquire();
    }

    /** What a request of this engine sends, under a new lock id. */
    KeyAttempt attempt(LockRequest request) {
        String lockId = backend.lockIdFor(request.key(), lockIds.next());
        return new KeyAttempt(
                request, settings.attempt(request, lockId, backend.info().waiterTtl()));
    }

    /**
     * Sends a request unless the thread was interrupted or the engine stops.
     *
     * @param key for messages
     */
    <R extends @Nullable Object> R send(String key, Supplier<R> request) {
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(key, null);
        }
        if (!grantsLocks.getAsBoolean()) {
            throw shuttingDown(key, null);
        }
        try {
            return request.get();
        } catch (Throwable ex) {
            // A driver or pool that was interrupted reports a broken connection.
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(key, ex);
            }
            // The engine that stops closed the connection of a slow request.
            if (!grantsLocks.getAsBoolean()) {
                throw shuttingDown(key, ex);
            }
            throw ex;
        }
    }

    AcquireReport report(LockRequest request) {
        return new AcquireReport(request, time, dispatcher);
    }

    /** Makes the lease of a grant. */
    GrantedLease granted(KeyAttempt attempt, Confirmation confirmation, AcquireResult.Granted answer, Duration waited) {
        granted.accept(attempt.sent());
        if (time.nanoTime() >= confirmation.deadline()) {
            String key = attempt.request().key();
            throw new LockLostException(
                    key,
                    LockReason.EXPIRED,
                    "Lock '" + key + "' was granted, but its ttl of "
                            + MessageText.of(attempt.ttl())
                            + " was over before the answer arrived: use a longer ttl",
                    null);
        }
        return new GrantedLease(attempt.request(), attempt.sent().lockId(), answer.fence(), confirmation, waited);
    }

    /** Why a caller gives up. */
    LockNotAcquiredException refusal(Contention contention, Duration waited) {
        return contention.exception(waited, ownLocks.test(contention.key()));
    }

    /**
     * Throws a failure of the store as callers know it. If no body runs yet, it says that nothing was done. Returns if
     * it is none.
     */
    static void throwForCaller(Throwable ex) {
        if (ex instanceof LockBackendException failure) {
            throw isBeforeAnyBody(failure)
                    ? new LockUnavailableException(
                            failure.code(), String.valueOf(failure.getMessage()), failure.getCause())
                    : BackendFailure.shown(failure);
        }
    }

    /** @param cause the failure that the end of the connections may have caused; {@code null} if nothing was sent */
    static LockException shuttingDown(String key, @Nullable Throwable cause) {
        return new LockException(
                LockErrorCode.ABORTED,
                "No new locks, the application is shutting down: lock '" + key + "'. Work gets locks until then if it"
                        + " runs on an executor that Spring waits for, and within syncguard.shutdown-timeout",
                cause);
    }

    private static LockException aborted(String key) {
        return new LockException(
                LockErrorCode.ABORTED,
                "The application is shutting down, so callers that hold no lock wait no longer: lock '" + key + "'");
    }

    private static boolean isBeforeAnyBody(LockBackendException failure) {
        return CurrentLocks.innermostFirst().isEmpty() && failure.code().isTransient();
    }

    private static LockException interrupted(String key, @Nullable Throwable cause) {
        return new LockException(LockErrorCode.ABORTED, "Interrupted while acquiring lock '" + key + "'", cause);
    }

    @FunctionalInterface
    private interface Sleep {
        AcquireResult.@Nullable Granted untilNotified() throws InterruptedException;
    }

    /** The state of one call. */
    final class Acquisition {

        private final KeyAttempt attempt;
        private final LockRequest request;
        private final AcquireReport report;
        private final long deadline;

        /** Whether there is a queue entry. */
        private boolean queued;

        /** Why the last attempt was not granted. */
        private Contention contention;

        /** How long the caller waited until it was refused. */
        private Duration waited = Duration.ZERO;

        /** Whether one of the requests so far may still be executed. */
        private boolean inDoubt;

        /** How many attempts have failed in succession. */
        private int failures;

        Acquisition(LockRequest request, Duration waitTime) {
            this(attempt(request), report(request), waitTime);
        }

        private Acquisition(KeyAttempt attempt, AcquireReport report, Duration waitTime) {
            this(attempt, report, report.began() + waitTime.toNanos());
        }

        /** @param report has begun */
        Acquisition(KeyAttempt attempt, AcquireReport report, long deadline) {
            this.attempt = attempt;
            this.request = attempt.request();
            this.contention = new Contention(request.key(), null);
            this.report = report;
            this.deadline = deadline;
        }

        LockNotAcquiredException refusal() {
            return Acquirer.this.refusal(contention, waited);
        }

        @Nullable
        GrantedLease acquire() {
            GrantedLease grant;
            try {
                grant = acquireOrGiveUp();
            } catch (Throwable ex) {
                report.failed(ex);
                throwForCaller(ex);
                throw ex;
            }
            if (grant != null) {
                return report.granted(grant);
            }
            waited = report.refused();
            return null;
        }

        private @Nullable GrantedLease acquireOrGiveUp() {
            try (Waiter waiter = waiters.newWaiter(attempt.sent())) {
                return attemptUntilDeadline(waiter);
            } catch (Throwable ex) {
                // Code that breaks its contract, or a lack of memory, may fail after the grant.
                inDoubt |= !(ex instanceof LockException);
                giveUp(queued);
                throw ex;
            } finally {
                if (queued) {
                    waiters.waitEnded(report);
                }
                report.waitEnded();
            }
        }

        /** @param hasEntry whether there may be a queue entry */
        private void giveUp(boolean hasEntry) {
            if (inDoubt) {
                releaser.releaseInDoubt(attempt.keyedLockId(), attempt.ttl());
            } else if (hasEntry) {
                releaser.release(attempt.keyedLockId());
            }
        }

        private @Nullable GrantedLease attemptUntilDeadline(Waiter waiter) {
            while (true) {
                long sentAt = time.nanoTime();
                AcquireRequest next = sentAt < deadline ? waiter.nextRequest() : attempt.sent();
                AcquireRequest sent = queued ? next.fromQueue() : next;
                AcquireResult result;
                try {
                    result = send(sent);
                    failures = 0;
                } catch (LockBackendException ex) {
                    GrantedLease handedOver = pauseAfter(ex, waiter, sentAt);
                    if (handedOver != null) {
                        return handedOver;
                    }
                    continue;
                }
                if (result instanceof AcquireResult.Granted granted) {
                    return granted(granted, Confirmation.of(sentAt, attempt.ttl(), granted.expiresAt()));
                }
                if (result instanceof AcquireResult.Refused refused) {
                    giveUp(false);
                    return refused(refused);
                }
                AcquireResult.Queued entry = (AcquireResult.Queued) result;
                contention = new Contention(request.key(), entry.holder());
                queued = true;
                waiter.queued();
                report.waits(contention);
                waiters.queued(report);
                if (isLate()) {
                    giveUp(true);
                    return null;
                }
                GrantedLease handedOver = sleep(waiter, () -> waiter.sleep(sentAt, entry.nextLook(), deadline));
                if (handedOver != null) {
                    return handedOver;
                }
            }
        }

        private boolean isLate() {
            return time.nanoTime() >= deadline + LATE_ANSWER_NANOS;
        }

        /** Pauses before the next attempt, or throws the error if it is the caller's last. */
        private @Nullable GrantedLease pauseAfter(LockBackendException error, Waiter waiter, long sentAt) {
            if (!queued || !error.code().isTransient() || sentAt >= deadline || isLate()) {
                throw error;
            }
            failures++;
            Shielded.log(() -> log.debug("Waiting for lock '" + OneLine.of(request.key()) + "' goes on", error));
            return sleep(waiter, () -> waiter.pause(waiters.retryPause(failures - 1), deadline));
        }

        private @Nullable GrantedLease refused(AcquireResult.Refused refused) {
            contention = new Contention(request.key(), refused.holder());
            report.contended(contention);
            return null;
        }

        private AcquireResult send(AcquireRequest next) {
            return Acquirer.this.send(request.key(), () -> {
                try {
                    return Answers.awaitOnly(() -> backend.acquire(List.of(next), GrantExtent.ONE));
                } catch (Throwable ex) {
                    inDoubt |= BackendFailure.isInDoubt(ex);
                    throw ex;
                }
            });
        }

        /** Sleeps until the next attempt is due. Returns the lease if a release handed the key over meanwhile. */
        private @Nullable GrantedLease sleep(Waiter waiter, Sleep sleep) {
            AcquireResult.Granted granted;
            try {
                granted = sleep.untilNotified();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw interrupted(request.key(), ex);
            }
            if (granted == null && waiter.takeAbort() && !waitsOn.getAsBoolean()) {
                throw aborted(request.key());
            }
            if (granted == null || !grantsLocks.getAsBoolean()) {
                return null;
            }
            Confirmation first = new Confirmation(
                    waiter.confirmedAt(), backend.info().waiterTtl(), attempt.ttl(), granted.expiresAt());
            // A lease past its deadline does not count. The next attempt may still find it live.
            return time.nanoTime() < first.deadline() ? granted(granted, first) : null;
        }

        private GrantedLease granted(AcquireResult.Granted answer, Confirmation confirmation) {
            try {
                GrantedLease lease = Acquirer.this.granted(attempt, confirmation, answer, report.elapsed());
                return inDoubt
                        ? lease.settledAt(
                                time.nanoTime() + backend.info().inDoubtPeriod().toNanos())
                        : lease;
            } catch (LockLostException ex) {
                inDoubt = true;
                throw ex;
            }
        }
    }
}
