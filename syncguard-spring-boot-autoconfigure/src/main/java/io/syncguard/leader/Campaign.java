package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gets the lock of an election again and again, and keeps it, on one daemon thread that runs while the member takes part.
 *
 * <ol>
 *   <li>It acquires the lock with all the patience that a request can have: the engine queues it, and wakes it when it is its turn.
 *   <li>A grant begins a term. The thread takes the next fence whenever that is due, and otherwise waits for the end of the term.
 *   <li>A term ends when its lock is lost, or the member steps down; its bodies are interrupted by whoever does that. The lock is
 *       given back when they have ended and the listeners have been told, or the patience with them is over.
 *   <li>An error of any kind ends an attempt and never the campaign. The lock is given back if it was granted. After a
 *       pause a single attempt shows whether the error has passed.
 * </ol>
 */
final class Campaign {

    private static final Log log = LogFactory.getLog(LeaderElection.class);

    /** After errors. */
    private static final Backoff PAUSES =
            Backoff.doubling(Duration.ofMillis(250), Duration.ofSeconds(8)).withJitter();

    private final LeaderMember member;
    private final LockManager locks;
    private final LockRequest request;
    private final Duration patience;
    private final Time time;
    private final ThreadFactory threads;
    private final ReentrantLock lock = new ReentrantLock();

    /** Something that somebody may be waiting for. */
    private final Condition changed = lock.newCondition();

    /** Whether the application runs. Guarded by the lock, as all that follows. */
    private boolean open;

    private boolean joined;

    private boolean paused;

    /** Whether the thread acquires the lock, and may be interrupted. */
    private boolean acquiring;

    private @Nullable Thread thread;

    /** The last one. Written by the thread under the lock, read by all. */
    private volatile @Nullable LeaderTerm term;

    /** The attempts that failed since one did not. Used by the thread alone, one after the other. */
    private int failures;

    /** @param patience with bodies and listeners of a term that is over */
    Campaign(
            LeaderMember member,
            LockManager locks,
            LockRequest request,
            Duration patience,
            Time time,
            ThreadFactory threads) {
        this.member = member;
        this.locks = locks;
        this.request = request.waitTime(LockLimits.MAX_DURATION);
        this.patience = patience;
        this.time = time;
        this.threads = threads;
    }

    /** The term in which this process leads, or led last. */
    @Nullable
    LeaderTerm term() {
        return term;
    }

    /** The application runs. */
    void open() {
        change(() -> open = true, () -> open = false);
    }

    /** The application stops. */
    void close() {
        change(() -> open = false);
        stepDown(LeaderRevocation.SHUTDOWN);
    }

    void join() {
        lock.lock();
        try {
            if (!joined) {
                member.makeReady();
                change(() -> joined = true, () -> joined = false);
                // Told before any election: the thread of the campaign waits for the lock.
                member.joined();
            }
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        change(() -> joined = false);
        stepDown(LeaderRevocation.LEFT);
    }

    void pause() {
        change(() -> paused = true);
        stepDown(LeaderRevocation.PAUSED);
    }

    void resume() {
        change(() -> paused = false);
    }

    void resign() {
        stepDown(LeaderRevocation.RESIGNED);
    }

    boolean isJoined() {
        lock.lock();
        try {
            return joined;
        } finally {
            lock.unlock();
        }
    }

    /** Shows the last term, while none begins. */
    void withTerm(Consumer<@Nullable LeaderTerm> action) {
        lock.lock();
        try {
            action.accept(term);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a member that takes part no longer has given everything back, at most for the patience. An interrupt ends the
     * wait.
     */
    void awaitEnd() {
        long deadline = time.nanoTime() + patience.toNanos();
        lock.lock();
        try {
            for (long now = time.nanoTime(); thread != null && now < deadline; now = time.nanoTime()) {
                time.await(changed, deadline - now);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable wish) {
        change(wish, () -> {});
    }

    /** @param undo takes the wish back when it takes a thread and none can be made */
    private void change(Runnable wish, Runnable undo) {
        lock.lock();
        try {
            wish.run();
            if (open && joined && thread == null) {
                thread = startThread();
            } else if (!isWanted() && acquiring && thread != null) {
                thread.interrupt();
            }
            changed.signalAll();
        } catch (RuntimeException | Error ex) {
            undo.run();
            throw ex;
        } finally {
            lock.unlock();
        }
    }

    private Thread startThread() {
        Thread started =
                DaemonThreadFactory.named(member.threadName(""), threads).newThread(this::run);
        started.start();
        return started;
    }

    private boolean isWanted() {
        return open && joined && !paused;
    }

    private void stepDown(LeaderRevocation reason) {
        LeaderTerm current = term;
        if (current != null) {
            current.stepDown(reason);
        }
    }

    private void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        boolean takesPart = true;
        while (takesPart) {
            try {
                takesPart = awaitTurn();
                LockHandle grant = takesPart ? acquire() : null;
                if (grant != null) {
                    lead(grant);
                }
            } catch (RuntimeException | Error ex) {
                failed(ex);
            }
        }
    }

    /**
     * Waits while the member is paused, or rests after an error.
     *
     * @return whether it takes part
     */
    private boolean awaitTurn() {
        lock.lock();
        try {
            long restsUntil = time.nanoTime() + PAUSES.pauseNanos(failures);
            while (open && joined && (paused || time.nanoTime() < restsUntil)) {
                await(paused ? Time.NEVER : restsUntil - time.nanoTime());
            }
            if (!open || !joined) {
                // From here on a thread that is missed is another one.
                thread = null;
                changed.signalAll();
            }
            acquiring = thread != null;
            return acquiring;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable LockHandle acquire() {
        try {
            LockHandle grant = failures == 0 ? locks.acquire(request) : locks.tryAcquire(request);
            if (grant == null) {
                // The lock can be had, if not now.
                recovered();
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
            // Whoever interrupted the wait did so under the lock, and nobody will from here on.
            Thread.interrupted();
        } finally {
            lock.unlock();
        }
    }

    private void failed(Throwable failure) {
        lock.lock();
        try {
            if (!isWanted()) {
                // It was told to end.
                return;
            }
        } finally {
            lock.unlock();
        }
        if (failures++ == 0) {
            Shielded.log(() -> log.warn(
                    "The election '" + member.name() + "' cannot be taken part in, and is tried again until it can",
                    failure));
        } else {
            Shielded.log(
                    () -> log.debug("The election '" + member.name() + "' still cannot be taken part in", failure));
        }
    }

    private void recovered() {
        int failed = failures;
        failures = 0;
        if (failed > 0) {
            Shielded.log(() -> log.info("The election '" + member.name() + "' is taken part in again, after " + failed
                    + " failed attempt(s)"));
        }
    }

    /** A grant that was not given back would be extended for ever, and nobody would lead. */
    private void lead(LockHandle grant) {
        try {
            lead(new LeaderTerm(member, grant, this::wake), time.nanoTime());
        } finally {
            giveBack(grant);
        }
    }

    private void lead(LeaderTerm next, long grantedAt) {
        try {
            if (begin(next)) {
                recovered();
                keep(next, grantedAt);
            }
        } catch (RuntimeException | Error ex) {
            next.stepDown(LeaderRevocation.RESIGNED);
            throw ex;
        } finally {
            end(next);
        }
    }

    private boolean begin(LeaderTerm next) {
        lock.lock();
        try {
            if (isWanted()) {
                next.start(() -> term = next);
            }
            return isWanted();
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the term is over. */
    private void keep(LeaderTerm current, long grantedAt) {
        long rotatedAt = grantedAt;
        while (awaitRotation(current, rotatedAt)) {
            rotatedAt = time.nanoTime();
            rotate(current);
        }
    }

    private boolean awaitRotation(LeaderTerm current, long rotatedAt) {
        Duration period = member.settings().fenceRotation();
        long next = period.isZero() ? Time.NEVER : rotatedAt + period.toNanos();
        lock.lock();
        try {
            while (current.isLeader()) {
                long now = time.nanoTime();
                if (now >= next) {
                    return true;
                }
                // The end of the lease, too: the news of a loss may come late.
                await(Math.min(next - now, current.lock().remaining().toNanos()));
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void rotate(LeaderTerm current) {
        try {
            current.lock().rotateFence();
            current.rotated();
        } catch (LockLostException ex) {
            log.debug("The lock of the leader was lost before its fence was rotated", ex);
        } catch (RuntimeException | Error ex) {
            Shielded.log(() -> log.warn(
                    "The fence of the leader of '" + member.name() + "' could not be rotated; it leads on under "
                            + current.fence() + " while its lease is extended, and tries again",
                    ex));
        }
    }

    private void end(LeaderTerm over) {
        CompletableFuture<Void> told = over.over();
        long deadline = time.nanoTime() + patience.toNanos();
        lock.lock();
        try {
            while (over.bodies() > 0 || !told.isDone()) {
                long left = deadline - time.nanoTime();
                if (left <= 0) {
                    log.warn("The leadership '" + member.name() + "' is given up although it is still in use, by "
                            + over.bodies() + " running bodies" + (told.isDone() ? "" : " and by a listener") + ", "
                            + patience.toMillis() + " ms after they were told");
                    return;
                }
                await(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(LockHandle grant) {
        try {
            grant.release();
        } catch (RuntimeException | Error ex) {
            Shielded.log(() -> log.warn(
                    "The lock of the leader of '" + member.name() + "' was not released; its lease runs out", ex));
        }
    }

    /** Waits for a change. The caller holds the lock. */
    private void await(long nanos) {
        try {
            time.await(changed, nanos);
        } catch (InterruptedException ex) {
            // Nobody has this thread but the campaign, which interrupts it while it acquires.
            log.debug("Interrupted", ex);
        }
    }
}
