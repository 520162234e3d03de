package io.syncguard.leader;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.OneLine;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Shielded;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The time from an election of this process to its end, under one grant of the lock: the next term has another lock id.
 * Thread-safe.
 */
public final class LeaderTerm {

    private static final Log log = LogFactory.getLog(LeaderTerm.class);

    private final String election;
    private final LockHandle lock;
    private final TermEvents events;
    private final Runnable changed;
    private final TermBodies bodies;

    /** Why the leader stepped down. Set once. */
    private final AtomicReference<@Nullable LeaderRevocation> steppedDown = new AtomicReference<>();

    /** Whether the beginning was reported. Guarded by this. */
    private boolean begun;

    /** Done when all listeners have received the end; {@code null} before the end is reported. Guarded by this. */
    private @Nullable CompletableFuture<Void> ended;

    /** @param changed runs when the term has ended, and after that whenever one of its bodies or listeners has ended */
    LeaderTerm(String election, LockHandle lock, TermEvents events, Runnable changed) {
        this.election = election;
        this.lock = lock;
        this.events = events;
        this.changed = changed;
        this.bodies = new TermBodies(election, lock, this::isLeader, changed);
    }

    /** The name of the election. */
    public String name() {
        return election;
    }

    /**
     * Whether this process leads in this term: false from the local deadline of the lease on, or once it steps down. No
     * I/O.
     */
    public boolean isLeader() {
        return steppedDown.get() == null && lock.isHeld();
    }

    /** The number to send with each write of the leader. Read it each time: a rotation changes it. */
    public Fence fence() {
        return lock.fence();
    }

    /** Resigns, like {@link LeaderMember#resign()}, unless this term is over already. */
    public void resign() {
        stepDown(LeaderRevocation.RESIGNED);
    }

    /** Ends the leadership at once; the lock is held until all bodies have ended. Only the first reason counts. */
    void stepDown(LeaderRevocation reason) {
        if (steppedDown.compareAndSet(null, reason)) {
            end(reason == LeaderRevocation.SHUTDOWN ? TermBody::shutDown : TermBody::stepDown);
        }
    }

    /**
     * Begins. The end of the term is reported after its beginning.
     *
     * @param publish lets others find the term, and end it
     */
    void begin(Runnable publish) {
        synchronized (this) {
            publish.run();
            events.elected(fence());
            begun = true;
        }
        lock.onLost(() -> end(TermBody::lost));
    }

    /** Takes the next fence, and reports it unless the end was reported. A failure ends nothing: the lease goes on. */
    void rotateFence() {
        try {
            lock.rotateFence();
            reportRotation();
        } catch (LockLostException ex) {
            log.debug("The lock of the leader was lost before its fence was rotated", ex);
        } catch (Throwable ex) {
            Shielded.log(() -> log.warn(
                    "The fence of the leader of '" + OneLine.of(election) + "' could not be rotated; it leads on under "
                            + fence() + " while its lease is extended, and tries again",
                    ex));
        }
    }

    /**
     * Reports the end once, on the thread that detects it first: the campaign may be waiting for an answer of the
     * server. An end without a reported beginning is not reported.
     *
     * @return done when all listeners have returned
     */
    synchronized CompletableFuture<Void> reportEnd() {
        if (ended == null) {
            ended = begun ? events.revoked(fence(), reason()) : CompletableFuture.completedFuture(null);
            ended.whenComplete((nothing, failure) -> changed.run());
        }
        return ended;
    }

    /** Begins a body on the running thread; {@code null} when this process does not lead in this term. */
    @Nullable
    TermBody beginBody() {
        return bodies.begin();
    }

    int bodies() {
        return bodies.count();
    }

    /** The number of bodies that run on other threads, or in a future. */
    int bodiesBeside(EndingThreads ending) {
        return bodies.countBeside(ending);
    }

    LockHandle lock() {
        return lock;
    }

    private LeaderRevocation reason() {
        LeaderRevocation reason = steppedDown.get();
        if (reason != null) {
            return reason;
        }
        // Neither held nor lost: the application has released it, through the handle or by its lock id.
        return lock.state() == LockHandle.State.LOST ? LeaderRevocation.LOST : LeaderRevocation.RESIGNED;
    }

    private synchronized void reportRotation() {
        if (ended == null) {
            events.fenceRotated(fence());
        }
    }

    private void end(Consumer<TermBody> endBody) {
        try {
            bodies.forEach(endBody);
            reportEnd();
        } finally {
            changed.run();
        }
    }
}
