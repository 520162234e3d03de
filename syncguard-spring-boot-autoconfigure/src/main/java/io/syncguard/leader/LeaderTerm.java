package io.syncguard.leader;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.concurrent.Shielded;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The time from an election of this process to its end, under one grant of the lock: the next term has another lock id. Threads
 * may share it.
 */
public final class LeaderTerm {

    private static final Log log = LogFactory.getLog(LeaderElection.class);

    private final LeaderMember member;
    private final LockHandle lock;

    /** Runs when something has changed that the campaign waits for. */
    private final Runnable changed;

    /** Why the leader stepped down. Set once. */
    private final AtomicReference<@Nullable LeaderRevocation> steppedDown = new AtomicReference<>();

    private final Set<TermBody> bodies = ConcurrentHashMap.newKeySet();

    /** Whether the listeners are told of the beginning. Guarded by this. */
    private boolean begun;

    /** Done when the listeners have been told of the end; {@code null} before it. Guarded by this. */
    private @Nullable CompletableFuture<Void> told;

    LeaderTerm(LeaderMember member, LockHandle lock, Runnable changed) {
        this.member = member;
        this.lock = lock;
        this.changed = changed;
    }

    /** The name of the election. */
    public String name() {
        return member.name();
    }

    /**
     * Whether this process leads in this term: false from the moment on in which that can no longer be proven, or it steps
     * down. No I/O.
     */
    public boolean isLeader() {
        return steppedDown.get() == null && lock.isHeld();
    }

    /** The number to send along with what the leader writes, to be asked for each time: a rotation takes the next. */
    public Fence fence() {
        return lock.fence();
    }

    /** Gives the leadership to the next one, like {@link LeaderMember#resign()}, unless this term is over already. */
    public void resign() {
        stepDown(LeaderRevocation.RESIGNED);
    }

    /** Leads no longer, from now on, but has the lock until all bodies have ended. Only the first reason counts. */
    void stepDown(LeaderRevocation reason) {
        if (steppedDown.compareAndSet(null, reason)) {
            end(TermBody::stepDown);
        }
    }

    /** Begins, with what makes the term known. News of its end come after that of its beginning. */
    void start(Runnable known) {
        synchronized (this) {
            known.run();
            member.elected(this);
            begun = true;
        }
        member.startTasks(this);
        lock.onLost(this::lost);
    }

    /** Tells of the new fence, unless the end has been told. */
    synchronized void rotated() {
        if (told == null) {
            member.fenceRotated(this);
        }
    }

    /**
     * Tells of the end, once, whoever notices it first: the campaign may be waiting for an answer of the server.
     * When the beginning could not be told, the end is not told, either.
     *
     * @return done when all have been told
     */
    synchronized CompletableFuture<Void> over() {
        if (told == null) {
            told = begun ? member.revoked(this, reason()) : CompletableFuture.completedFuture(null);
            told.whenComplete((nothing, failure) -> changed.run());
        }
        return told;
    }

    /** Begins code on the running thread; {@code null} when this process does not lead in this term. */
    @Nullable
    TermBody begin() {
        if (!isLeader()) {
            return null;
        }
        TermBody body = new TermBody(this, lock);
        bodies.add(body);
        // Looked at after the body was added: whoever ends the term from here on finds it.
        if (isLeader()) {
            return body;
        }
        ended(body);
        return null;
    }

    void ended(TermBody body) {
        bodies.remove(body);
        if (bodies.isEmpty() && !isLeader()) {
            changed.run();
        }
    }

    void interruptPending() {
        bodies.forEach(TermBody::interruptIfPending);
    }

    int bodies() {
        return bodies.size();
    }

    LockHandle lock() {
        return lock;
    }

    private LeaderRevocation reason() {
        LeaderRevocation reason = steppedDown.get();
        if (reason != null) {
            return reason;
        }
        // Held no longer and not lost, it was given back by whoever has the handle or its lock id.
        return lock.state() == LockHandle.State.LOST ? LeaderRevocation.LOST : LeaderRevocation.RESIGNED;
    }

    private void lost() {
        end(TermBody::lost);
    }

    /** What fails for one body keeps the end from nobody else. */
    private void end(Consumer<TermBody> telling) {
        try {
            bodies.forEach(body -> Shielded.run(
                    () -> telling.accept(body),
                    log,
                    () -> "A body of the leader of '" + name() + "' could not be told of the end of its term"));
            over();
        } finally {
            changed.run();
        }
    }
}
