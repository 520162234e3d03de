package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Extends leases: of all held locks together a third of the ttl after the last time, and of one when its holder asks.
 *
 * <p>The thread {@code syncguard-heartbeat} sends one statement per tick, or one per {@value #CHUNK} locks; what a holder asks
 * for is sent on the holder's thread. A lock that is due soon is taken along, so that locks which were acquired at different
 * times travel together from their first tick on. A tick that fails is tried again sooner. A lock whose row is pinned is tried
 * again after 10 ms. One that the server no longer knows is lost. The others go on in each case.
 */
final class Heartbeat implements AutoCloseable {

    private static final Log log = LogFactory.getLog(Heartbeat.class);

    /** How many locks one statement extends at most. */
    static final int CHUNK = 500;

    /** The pause before a lock that somebody has pinned is tried again, 10 ms. */
    private static final long BUSY_NANOS = 10_000_000L;

    /** How often a holder's own call tries a pinned lock: about half a second in all. */
    private static final int BUSY_TRIES = 50;

    private final LockBackend backend;
    private final HeldLocks held;
    private final Events events;
    private final Time time;
    private final Alarm alarm;

    /** The statements that failed since one did not. Used by the heartbeat's thread alone. */
    private int failures;

    /** Whether the log has a warning of them. Used by the heartbeat's thread alone. */
    private boolean warned;

    Heartbeat(LockBackend backend, HeldLocks held, Events events, Time time) {
        this.backend = backend;
        this.held = held;
        this.events = events;
        this.time = time;
        this.alarm = new Alarm("syncguard-heartbeat", time, this::tick);
    }

    /** Takes notice of a hold that wants to be extended. */
    void schedule(Hold hold) {
        if (hold.belief().hasHeartbeat()) {
            alarm.ringAt(hold.belief().renewAt());
        }
    }

    /**
     * Extends one lease for its holder.
     *
     * @return whether it is still held
     */
    boolean extend(Hold hold, Duration ttl) {
        LockLimits.ttl(ttl);
        return telling(hold, () -> extendAlone(hold, ttl, backend::extend));
    }

    /**
     * Extends one lease by its ttl for its holder, and takes the next fence for it.
     *
     * @throws LockLostException when it is not held any more
     */
    Fence rotateFence(Hold hold) {
        if (!telling(hold, () -> rotateAlone(hold))) {
            throw hold.notHeldException();
        }
        return hold.fence();
    }

    /**
     * Extends a lease that no handle of this process holds.
     *
     * @return the new end of the lease; empty when it is over
     */
    Optional<Instant> extend(Extension extension) {
        for (int tries = 1; ; tries++) {
            ExtendOutcome outcome = backend.extend(extension);
            if (outcome instanceof ExtendOutcome.Extended extended) {
                return Optional.of(extended.expiresAt());
            }
            if (!(outcome instanceof ExtendOutcome.Busy)) {
                return Optional.empty();
            }
            pauseWhileBusy("a lock", tries);
        }
    }

    @Override
    public void close() {
        alarm.close();
    }

    /** Listeners may block, and are told with the lease free to be extended. */
    private boolean telling(Hold hold, BooleanSupplier extending) {
        try {
            boolean extended = extending.getAsBoolean();
            if (extended) {
                events.of(hold, LockListener::extended);
            }
            return extended;
        } catch (LockException ex) {
            events.failed(hold, LockOperation.EXTEND, ex);
            throw ex;
        }
    }

    private boolean rotateAlone(Hold hold) {
        Belief belief = hold.belief();
        belief.extending.lock();
        try {
            return extendAlone(hold, belief.ttl(), backend::rotate);
        } finally {
            belief.extending.unlock();
        }
    }

    private boolean extendAlone(Hold hold, Duration ttl, Function<Extension, ExtendOutcome> server) {
        Belief belief = hold.belief();
        belief.extending.lock();
        try {
            for (int tries = 1; hold.isHeld(); tries++) {
                long sentAt = time.nanoTime();
                Belief.Lease before = belief.expectAtMost(sentAt, ttl);
                held.watch(hold);
                ExtendOutcome outcome = ask(hold, ttl, server);
                if (!(outcome instanceof ExtendOutcome.Busy)) {
                    return accept(hold, outcome, sentAt, ttl);
                }
                belief.restore(before);
                pauseWhileBusy("lock '" + hold.key() + "'", tries);
            }
            return false;
        } finally {
            belief.extending.unlock();
            schedule(hold);
        }
    }

    /** The backend knows no key here, only the lock id. */
    private ExtendOutcome ask(Hold hold, Duration ttl, Function<Extension, ExtendOutcome> server) {
        try {
            return server.apply(new Extension(hold.lockId(), ttl));
        } catch (LockBackendException ex) {
            hold.belief().extensionFailed(ttl, ex);
            throw new LockBackendException(
                    ex.code(), "Lock '" + hold.key() + "' could not be extended. " + ex.getMessage(), ex.getCause());
        } catch (RuntimeException | Error ex) {
            hold.belief().extensionFailed(ttl, BackendFailure.of("The extension failed", ex));
            throw ex;
        }
    }

    private long tick() {
        long now = time.nanoTime();
        List<Hold> due = held.all().stream()
                .filter(hold -> hold.belief().isDue(now) && hold.isHeld())
                .toList();
        for (int from = 0; from < due.size(); from += CHUNK) {
            extendAll(due.subList(from, Math.min(due.size(), from + CHUNK)));
        }
        return nextTick();
    }

    private void extendAll(List<Hold> due) {
        List<Hold> holds = new ArrayList<>();
        for (Hold hold : due) {
            if (!hold.belief().extending.tryLock()) {
                // Its holder is asking for itself right now, and two answers must not overtake each other.
                hold.belief().restFrom(time.nanoTime());
            } else if (hold.isHeld()) {
                holds.add(hold);
            } else {
                // Ended since the tick began: its release may have set the rest of the time to hold at least.
                hold.belief().extending.unlock();
            }
        }
        if (holds.isEmpty()) {
            return;
        }
        try {
            send(holds);
        } finally {
            holds.forEach(hold -> hold.belief().extending.unlock());
        }
    }

    private void send(List<Hold> holds) {
        List<Extension> extensions = holds.stream()
                .map(hold -> new Extension(hold.lockId(), hold.belief().ttl()))
                .toList();
        long sentAt = time.nanoTime();
        try {
            List<ExtendOutcome> outcomes = backend.extend(extensions);
            succeeded();
            List<Hold> extended = new ArrayList<>();
            for (int i = 0; i < holds.size(); i++) {
                boolean held = accept(
                        holds.get(i), outcomes.get(i), sentAt, extensions.get(i).ttl());
                if (held && outcomes.get(i) instanceof ExtendOutcome.Extended) {
                    extended.add(holds.get(i));
                }
            }
            events.later(extended, LockListener::extended);
        } catch (RuntimeException | Error ex) {
            // An Error, too: without memory or threads, the other locks are extended, and these are tried again.
            LockBackendException error = BackendFailure.of("The heartbeat failed", ex);
            for (int i = 0; i < holds.size(); i++) {
                holds.get(i).belief().extensionFailed(extensions.get(i).ttl(), error);
                holds.get(i).belief().restFrom(time.nanoTime());
            }
            failed(holds, error);
            events.later(holds, (listener, event) -> listener.failed(event, LockOperation.EXTEND, error));
        }
    }

    /** Warns once per outage, and only of locks that can still be saved: the loss of the others is a warning of its own. */
    private void failed(List<Hold> holds, LockBackendException error) {
        failures++;
        long held = holds.stream().filter(Hold::isHeld).count();
        if (!warned && held > 0) {
            warned = true;
            Shielded.log(() -> log.warn(
                    "The heartbeat could not extend " + held + " lock(s) and tries again; each is held until its ttl is"
                            + " over",
                    error));
        } else {
            Shielded.log(() -> log.debug(
                    "The heartbeat could not extend " + holds.size() + " lock(s), " + held + " of them still held",
                    error));
        }
    }

    private void succeeded() {
        if (warned) {
            int failed = failures;
            Shielded.log(() -> log.info("The heartbeat extends locks again, after " + failed + " failed attempt(s)"));
        }
        warned = false;
        failures = 0;
    }

    private boolean accept(Hold hold, ExtendOutcome outcome, long sentAt, Duration ttl) {
        if (outcome instanceof ExtendOutcome.Extended extended) {
            return accept(hold, new Belief.Lease(sentAt, ttl, extended.expiresAt()));
        }
        if (outcome instanceof ExtendOutcome.Rotated rotated) {
            boolean stillHeld = accept(hold, new Belief.Lease(sentAt, ttl, rotated.expiresAt()));
            if (stillHeld) {
                hold.rotated(rotated.fence());
            }
            return stillHeld;
        }
        if (outcome instanceof ExtendOutcome.Expired) {
            hold.lose(LockReason.EXPIRED, "its lease had lapsed at the server");
            return false;
        }
        if (outcome instanceof ExtendOutcome.NotFound) {
            hold.lose(LockReason.NOT_FOUND, "the server does not know it any more");
            return false;
        }
        hold.belief().busyAt(time.nanoTime(), BUSY_NANOS);
        return hold.isHeld();
    }

    private boolean accept(Hold hold, Belief.Lease confirmed) {
        boolean stillHeld = hold.extended(confirmed);
        if (stillHeld) {
            held.watch(hold);
        }
        return stillHeld;
    }

    private void pauseWhileBusy(String what, int tries) {
        if (tries == BUSY_TRIES) {
            throw new LockBackendException(
                    LockErrorCode.NETWORK_TIMEOUT,
                    "Failed while extending " + what + ": another transaction keeps its row locked. Look for"
                            + " sessions that are idle in transaction",
                    null);
        }
        try {
            time.sleep(BUSY_NANOS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new LockException(
                    LockErrorCode.ABORTED, "Interrupted while extending " + what + ", which is held as before", ex);
        }
    }

    private long nextTick() {
        long next = Time.NEVER;
        for (Hold hold : held.all()) {
            if (hold.belief().hasHeartbeat() && hold.isHeld()) {
                next = Math.min(next, hold.belief().renewAt());
            }
        }
        return next;
    }
}
