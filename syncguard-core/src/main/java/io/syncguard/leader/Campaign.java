package io.syncguard.leader;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Acquires the lock of an election again and again, on one daemon thread that runs while the member takes part.
 *
 * <ol>
 *   <li>The thread waits while the member is paused, after an error, and after a second term that ended at once.
 *   <li>The first attempt does not wait, so that its answer decides soon whether the member leads.
 *   <li>It acquires the lock with the longest wait time that a request can have: the engine queues it, and wakes it
 *       when it is its turn.
 *   <li>A grant becomes a term, which {@link TermRunner} runs to its end on the same thread.
 *   <li>An error of any kind ends an attempt and never the campaign. After a pause, one attempt without a wait time
 *       shows whether the error has passed.
 * </ol>
 */
final class Campaign {

    private static final Log log = LogFactory.getLog(Campaign.class);

    private static final Backoff BACKOFF =
            Backoff.doubling(Duration.ofMillis(250), Duration.ofSeconds(8)).withJitter();

    /** A term that ends sooner counts as one that ended at once. */
    private static final long SHORT_TERM_NANOS = Duration.ofSeconds(1).toNanos();

    private final String election;
    private final LockManager locks;
    private final LockRequest request;
    private final TermRunner terms;
    private final Consumer<LeaderTerm> elected;
    private final Time time;
    private final ThreadFactory threads;
    private final FirstDecision decision;
    private final Membership membership = new Membership(this::followMembership);
    private final ReentrantLock lock = new ReentrantLock();

    /** The membership has changed, or the thread has ended. */
    private final Condition changed = lock.newCondition();

    /** Whether the thread acquires the lock, and may be interrupted. Guarded by the lock. */
    private boolean acquiring;

    /** Whether the attempt was interrupted, because the membership had changed. Guarded by the lock. */
    private boolean givenUp;

    /** Guarded by the lock. */
    private @Nullable Thread thread;

    /** The failed attempts since the last successful one. Only the running thread uses it. */
    private int failures;

    /** The terms in succession that ended at once. Only the running thread uses it. */
    private int shortTerms;

    /** On the clock: the next attempt is not sent before. Only the running thread uses it. */
    private long pausesUntil;

    /**
     * @param elected is called with each term after it has begun
     * @param threads makes the thread
     */
    Campaign(
            String election,
            LockManager locks,
            LockRequest request,
            TermRunner terms,
            Consumer<LeaderTerm> elected,
            Time time,
            ThreadFactory threads) {
        this.election = election;
        this.locks = locks;
        this.request = request.waitTime(LockLimits.MAX_DURATION);
        this.terms = terms;
        this.elected = elected;
        this.time = time;
        this.decision = new FirstDecision(time);
        this.threads = threads;
    }

    Membership membership() {
        return membership;
    }

    FirstDecision decision() {
        return decision;
    }

    /**
     * Waits until the thread has released everything and ended; for members that have left. An interrupt ends the wait.
     */
    void awaitEnd(Duration timeout) {
        Thread caller = Thread.currentThread();
        EndingThreads ending = new EndingThreads(caller);
        terms.stoppedBy(caller);
        time.awaitUntil(() -> thread == null || ending.contains(thread), lock, changed, timeout);
        terms.stoppedBy(null);
    }

    /** Called after each change of the membership, and before the next one. */
    private void followMembership() {
        lock.lock();
        try {
            decision.follow(membership.isCampaigning());
            if (thread == null && membership.takesPart()) {
                thread = startThread();
            } else if (thread != null && acquiring && !membership.isCampaigning()) {
                givenUp = true;
                thread.interrupt();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private Thread startThread() {
        Thread started = threads.newThread(this::run);
        started.start();
        return started;
    }

    private void run() {
        boolean takesPart = true;
        while (takesPart) {
            try {
                takesPart = awaitTurn();
                LockHandle grant = takesPart ? acquire() : null;
                if (grant != null) {
                    run(grant);
                }
            } catch (Throwable ex) {
                failed(ex);
            }
        }
    }

    /** @return whether the member takes part; else the thread has to end */
    private boolean awaitTurn() {
        lock.lock();
        try {
            while (membership.takesPart() && (membership.isPaused() || time.nanoTime() < pausesUntil)) {
                await(membership.isPaused() ? Time.NEVER : pausesUntil - time.nanoTime());
            }
            // Decided under the lock: a member that joins after this starts another thread.
            acquiring = membership.takesPart();
            givenUp = false;
            // Clears a flag that a listener or a body has left. Interrupts are sent under the lock, to one that
            // acquires.
            Thread.interrupted();
            if (!acquiring) {
                thread = null;
                changed.signalAll();
            }
            return acquiring;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable LockHandle acquire() {
        try {
            LockHandle grant = failures == 0 && decision.isMade() ? locks.acquire(request) : locks.tryAcquire(request);
            if (grant == null) {
                // The server answered: another member leads.
                recovered();
                decision.make();
            }
            return grant;
        } catch (LockNotAcquiredException ex) {
            return null;
        } finally {
            endAcquiring();
        }
    }

    private void endAcquiring() {
        lock.lock();
        try {
            acquiring = false;
            // Clears an interrupt of the attempt. Interrupts are sent under the lock, so none can follow.
            Thread.interrupted();
        } finally {
            lock.unlock();
        }
    }

    private void run(LockHandle grant) {
        long began = time.nanoTime();
        terms.run(grant, this::begin);
        if (time.nanoTime() - began >= SHORT_TERM_NANOS || !membership.isOpen()) {
            shortTerms = 0;
        } else {
            endedAtOnce();
        }
    }

    /** An application that ends each term would be elected again and again. One end of a term does not delay it. */
    private void endedAtOnce() {
        long pause = BACKOFF.pauseNanos(shortTerms++);
        if (pause > 0) {
            pausesUntil = time.nanoTime() + pause;
            Shielded.log(() -> log.warn(shortTerms + " terms of the leader of '" + OneLine.of(election)
                    + "' in succession ended at once. It campaigns again after "
                    + MessageText.of(Duration.ofNanos(pause))));
        }
    }

    private boolean begin(LeaderTerm term) {
        if (!membership.begin(term)) {
            return false;
        }
        decision.make();
        elected.accept(term);
        recovered();
        return true;
    }

    private void failed(Throwable failure) {
        if (!membership.isCampaigning() || wasGivenUp()) {
            return;
        }
        boolean first = failures++ == 0;
        pausesUntil = time.nanoTime() + BACKOFF.pauseNanos(failures);
        if (first && !isAborted(failure)) {
            Shielded.log(() -> log.warn(
                    "The campaign for '" + OneLine.of(election) + "' failed, and is tried again until it succeeds",
                    failure));
        } else {
            Shielded.log(() -> log.debug("The campaign for '" + OneLine.of(election) + "' failed again", failure));
        }
    }

    /** The application is about to stop, and the member to leave. */
    private static boolean isAborted(Throwable failure) {
        return failure instanceof LockException ex && ex.code() == LockErrorCode.ABORTED;
    }

    /** The member may campaign again since then. */
    private boolean wasGivenUp() {
        lock.lock();
        try {
            return givenUp;
        } finally {
            lock.unlock();
        }
    }

    private void recovered() {
        int failed = failures;
        failures = 0;
        if (failed > 0) {
            Shielded.log(() -> log.info("The campaign for '" + OneLine.of(election) + "' succeeds again, after "
                    + failed + " failed attempt(s)"));
        }
    }

    private void await(long nanos) {
        try {
            time.await(changed, nanos);
        } catch (InterruptedException ex) {
            // The campaign interrupts its thread only while the thread acquires the lock.
            log.debug("Interrupted", ex);
        }
    }
}
