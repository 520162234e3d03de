package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.RawLockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lock manager of one backend: hands out holds, keeps them alive, and takes them back.
 *
 * <p>Each hold passes the rooms in one direction: {@link Acquirer} gets it from the server, with {@link Waiters} if it has to wait, {@link HeldLocks} watches its
 * deadline, {@link Heartbeat} moves that on, {@link Releases} gives it back.
 *
 * <p>Threads may share it. Its own are daemons: {@code syncguard-waiters}, {@code syncguard-watch}, {@code syncguard-heartbeat}, {@code syncguard-release},
 * {@code syncguard-events} for listeners of the heartbeat and, for lost locks, {@code syncguard-lost-n} for callbacks and
 * {@code syncguard-lost-listener-n} for listeners. All are made with the engine.
 */
public final class LockEngine implements LockManager, AutoCloseable {

    private final LockBackend backend;
    private final EngineSettings settings;
    private final Events events;
    private final Losses losses;
    private final HeldLocks held;
    private final Heartbeat heartbeat;
    private final Releases releases;
    private final Waiters waiters;
    private final Acquirer acquirer;
    private final DeferredReleases deferred;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean grantsLocks = true;

    /** Takes over the backend and closes it. */
    public LockEngine(
            LockBackend backend,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<? extends LockListener> listeners) {
        this(backend, settings, transactions, listeners, Time.SYSTEM);
    }

    LockEngine(
            LockBackend backend,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<? extends LockListener> listeners,
            Time time) {
        this.backend = backend;
        this.settings = settings;
        this.events = new Events(backend.name(), List.copyOf(listeners));
        this.losses = new Losses(events);
        this.held = new HeldLocks(time);
        this.heartbeat = new Heartbeat(backend, held, events, time);
        this.releases = new Releases(backend, events, time);
        this.waiters = new Waiters(backend, settings, time);
        this.acquirer = new Acquirer(this, backend, settings, time, waiters);
        this.deferred = new DeferredReleases(transactions, this::releaseNow);
    }

    @Override
    public LockHandle acquire(LockRequest request) {
        Duration waitTime = request.waitTime() == null ? settings.waitTime() : request.waitTime();
        Hold outer = outerHold(request.key());
        return outer == null ? keptUntilEnd(acquirer.acquire(request, waitTime)) : join(outer, request);
    }

    @Override
    public @Nullable LockHandle tryAcquire(LockRequest request) {
        Hold outer = outerHold(request.key());
        if (outer != null) {
            return join(outer, request);
        }
        Hold hold = acquirer.tryAcquire(request);
        return hold == null ? null : keptUntilEnd(hold);
    }

    @Override
    public boolean isLocked(String key) {
        return backend.isLocked(LockLimits.key(key));
    }

    @Override
    public Optional<LockInfo> lookup(String key) {
        return holders(key).stream().findFirst();
    }

    @Override
    public List<LockInfo> holders(String key) {
        return debugLookup(key).stream().map(LockEngine::sanitised).toList();
    }

    @Override
    public Optional<LockInfo> lookupById(String lockId) {
        return debugLookupById(lockId).map(LockEngine::sanitised);
    }

    @Override
    public List<RawLockInfo> debugLookup(String key) {
        return backend.lookup(LockLimits.key(key));
    }

    @Override
    public Optional<RawLockInfo> debugLookupById(String lockId) {
        return backend.lookupById(LockLimits.lockId(lockId));
    }

    @Override
    public boolean owns(String lockId) {
        return lookupById(lockId).isPresent();
    }

    @Override
    public boolean release(String lockId) {
        Hold own = held.find(LockLimits.lockId(lockId));
        return own == null ? releases.release(lockId, settings.ttl()) : own.release();
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        Extension extension = new Extension(LockLimits.lockId(lockId), LockLimits.ttl(ttl));
        Hold own = held.find(lockId);
        if (own != null) {
            return own.extend(ttl) ? Optional.of(own.expiresAt()) : Optional.empty();
        }
        return heartbeat.extend(extension);
    }

    /** Grants locks again after {@link #stop}. A new engine needs no start. */
    public void start() {
        grantsLocks = true;
    }

    /**
     * Grants no more locks, waits up to the shutdown timeout for those that are held to be released, with heartbeats going
     * on, and takes back what is left: its holders learn that they lost it. Callers who wait for a lock are aborted.
     */
    public void stop() {
        grantsLocks = false;
        // None of them claims again.
        waiters.wakeAll().forEach(releases::leaveQueue);
        held.awaitNone(settings.shutdownTimeout());
        for (Hold hold : held.all()) {
            hold.lose(LockReason.SHUTDOWN, "it was still held when the application shut down");
            releases.releaseLate(hold);
        }
        releases.flush();
    }

    /** {@link #stop Stops} if that is still to be done, ends all threads and closes the backend. */
    @Override
    public void close() {
        if (grantsLocks || !held.all().isEmpty()) {
            stop();
        }
        waiters.close();
        releases.close();
        heartbeat.close();
        held.close();
        losses.close();
        events.close();
        backend.close();
    }

    Events events() {
        return events;
    }

    boolean grantsLocks() {
        return grantsLocks;
    }

    void granted(Hold hold) {
        held.add(hold);
        heartbeat.schedule(hold);
    }

    boolean extend(Hold hold, Duration ttl) {
        return heartbeat.extend(hold, ttl);
    }

    Fence rotateFence(Hold hold) {
        Fence fence = heartbeat.rotateFence(hold);
        acquirer.warnOf(fence, hold.key());
        return fence;
    }

    boolean release(Hold hold) {
        return switch (deferred.giveBack(hold)) {
            case SEND -> releaseNow(hold);
            case DEFERRED -> true;
            case REPEATED -> false;
        };
    }

    /** Sends the release, whatever transaction is open. */
    boolean releaseNow(Hold hold) {
        if (!hold.beginRelease()) {
            releaseLost(hold);
            return false;
        }
        try {
            return releases.release(hold);
        } finally {
            held.remove(hold);
        }
    }

    /** For a claim of which nobody knows whether it was or will be granted. */
    void releaseUnknown(Claim claim) {
        releases.releaseUnknown(claim);
    }

    /** For a caller who waits no longer. */
    void leaveQueue(Claim claim) {
        releases.leaveQueue(claim);
    }

    /** Called once for a hold that has just been lost. */
    void lost(Hold hold, LockReason reason, String explanation, List<Runnable> callbacks) {
        held.remove(hold);
        losses.tell(hold, reason, explanation, callbacks);
    }

    /** Runs a callback of a lost lock on a thread of the library. */
    void tell(Runnable callback) {
        losses.tell(callback);
    }

    private static LockInfo sanitised(RawLockInfo raw) {
        return new LockInfo(
                Hashes.shown(raw.key()),
                Hashes.shown(raw.lockId()),
                raw.mode(),
                raw.acquiredAt(),
                raw.expiresAt(),
                raw.fence(),
                raw.owner());
    }

    /** A lock that is acquired inside a transaction is not released before that has ended. */
    private Hold keptUntilEnd(Hold hold) {
        deferred.keepUntilEnd(hold);
        return hold;
    }

    /** The hold that a request of the running thread for this key is nested in. */
    private @Nullable Hold outerHold(String key) {
        for (LockHandle handle : CurrentLocks.innermostFirst()) {
            Hold hold = Hold.of(handle);
            if (hold != null && hold.isOf(this) && isOpenFor(key, hold)) {
                return hold;
            }
        }
        for (Hold hold : deferred.pending()) {
            if (isOpenFor(key, hold)) {
                return hold;
            }
        }
        return null;
    }

    private static boolean isOpenFor(String key, Hold hold) {
        return hold.key().equals(key) && hold.state() != LockHandle.State.RELEASED;
    }

    private LockHandle join(Hold outer, LockRequest request) {
        if (request.mode() == LockMode.EXCLUSIVE && outer.mode() == LockMode.SHARED) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "Lock '" + request.key()
                            + "' is held in mode SHARED where an exclusive one is asked for, which would wait"
                            + " for itself: take it exclusively from the start, or end the shared one first");
        }
        JoinedHold joined = new JoinedHold(outer, request);
        outer.requireHeld(joined);
        if (request.heartbeat()) {
            outer.belief().switchHeartbeatOn(request);
            heartbeat.schedule(outer);
        }
        return joined;
    }

    /** The server may still know a lease that was only not confirmed in time. Its body has ended: the key can be free. */
    private void releaseLost(Hold hold) {
        if (hold.state() == LockHandle.State.LOST) {
            releases.releaseLate(hold);
        }
    }
}
