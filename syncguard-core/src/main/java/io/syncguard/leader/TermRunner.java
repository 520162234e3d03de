package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs one term after the other, on the thread of the campaign: rotates the fence when that is due, waits for the end
 * of the term, then for its bodies and listeners, and releases the lock.
 */
final class TermRunner {

    private static final Log log = LogFactory.getLog(TermRunner.class);

    private final String election;
    private final Duration fenceRotation;
    private final Duration shutdownTimeout;
    private final TermEvents events;
    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();

    /** A term may have ended, or a body or listener of it. */
    private final Condition changed = lock.newCondition();

    /** The thread that stops the application, while it waits for the campaign. Written by it, read by the campaign. */
    private volatile @Nullable Thread stopping;

    /**
     * @param fenceRotation how long a term keeps a fence; zero for its whole time
     * @param shutdownTimeout how long the lock is held after the end of a term for its bodies and listeners
     */
    TermRunner(String election, Duration fenceRotation, Duration shutdownTimeout, TermEvents events, Time time) {
        this.election = election;
        this.fenceRotation = fenceRotation;
        this.shutdownTimeout = shutdownTimeout;
        this.events = events;
        this.time = time;
    }

    /**
     * Runs the term of a grant. The grant is always released: otherwise the engine would extend it for ever, and no
     * member would lead.
     *
     * @param begins begins the term, or returns false
     */
    void run(LockHandle grant, Predicate<LeaderTerm> begins) {
        try {
            run(new LeaderTerm(election, grant, events, this::signal), begins, time.nanoTime());
        } finally {
            release(grant);
        }
    }

    private void run(LeaderTerm term, Predicate<LeaderTerm> begins, long grantedAt) {
        try {
            if (begins.test(term)) {
                runUntilEnd(term, grantedAt);
            }
        } catch (Throwable ex) {
            term.stepDown(LeaderRevocation.RESIGNED);
            throw ex;
        } finally {
            awaitUnused(term);
        }
    }

    /** Rotates the fence until the term is over. */
    private void runUntilEnd(LeaderTerm term, long grantedAt) {
        long rotatedAt = grantedAt;
        while (awaitRotation(term, rotatedAt)) {
            rotatedAt = time.nanoTime();
            term.rotateFence();
        }
    }

    /** @return whether a rotation is due; else the term is over */
    private boolean awaitRotation(LeaderTerm term, long rotatedAt) {
        long dueAt = fenceRotation.isZero() ? Time.NEVER : rotatedAt + fenceRotation.toNanos();
        lock.lock();
        try {
            while (term.isLeader()) {
                long now = time.nanoTime();
                if (now >= dueAt) {
                    return true;
                }
                // Wakes up at the deadline of the lease, too: the report of a loss may come late.
                await(Math.min(dueAt - now, term.lock().remaining().toNanos()));
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** The thread that stops the application: no term waits for it. {@code null} when it goes on. */
    void stoppedBy(@Nullable Thread thread) {
        stopping = thread;
    }

    /**
     * Waits for the bodies and listeners of a term that is over, at most for the shutdown timeout, and for none that
     * has asked for the end of the application.
     */
    private void awaitUnused(LeaderTerm over) {
        CompletableFuture<Void> dispatched = over.reportEnd();
        time.awaitUninterrupted(() -> !isUsed(over, dispatched), lock, changed, shutdownTimeout);
        if (isUsed(over, dispatched)) {
            log.warn("The lock of the leader of '" + OneLine.of(election)
                    + "' is released while it is still in use, by "
                    + over.bodies() + " running bodies" + (dispatched.isDone() ? "" : " and by a listener")
                    + ", " + MessageText.of(shutdownTimeout) + " after the end of the term");
        }
    }

    private boolean isUsed(LeaderTerm over, CompletableFuture<Void> dispatched) {
        EndingThreads ending = new EndingThreads(stopping);
        Thread listening = events.listening();
        return over.bodiesBeside(ending) > 0
                || !dispatched.isDone() && (listening == null || !ending.contains(listening));
    }

    private void release(LockHandle grant) {
        try {
            grant.release();
        } catch (Throwable ex) {
            Shielded.log(() -> log.warn(
                    "The lock of the leader of '" + OneLine.of(election) + "' was not released; its lease runs out",
                    ex));
        }
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
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
