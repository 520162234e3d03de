package io.syncguard.core;

import io.syncguard.CurrentLocks;
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
import io.syncguard.concurrent.Time;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lock manager of one backend. It wires the rooms of the engine, delegates, starts and stops.
 *
 * <p>A lease passes the rooms in one direction: {@link Acquirer} gets a grant, {@link LeaseMonitor} watches the deadline of the
 * {@link Lease}, {@link LeaseRenewer} extends it, {@link LockReleaser} ends it, {@link ListenerDispatcher} tells. The application has
 * a {@link LeaseHandle}.
 *
 * <p>Threads may share it. Its own are daemons: {@code syncguard-waiters}, {@code syncguard-watch}, {@code syncguard-heartbeat},
 * {@code syncguard-release}, and those of the dispatcher. All are made with the engine.
 */
public final class LockEngine implements LockManager, AutoCloseable {

    private final LockBackend backend;
    private final EngineSettings settings;
    private final Time time;
    private final ListenerDispatcher dispatcher;
    private final LeaseMonitor monitor;
    private final LeaseRenewer renewer;
    private final LockReleaser releaser;
    private final TransactionReleaser transactionReleaser;
    private final WaiterRegistry waiters;
    private final Acquirer acquirer;
    private final FenceWarning fenceWarning;

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
        this.time = time;
        this.dispatcher = new ListenerDispatcher(backend.name(), List.copyOf(listeners));
        this.monitor = new LeaseMonitor(time);
        this.fenceWarning = new FenceWarning(time);
        this.renewer = new LeaseRenewer(backend, monitor, dispatcher, fenceWarning, time);
        this.releaser = new LockReleaser(backend, monitor, dispatcher, time);
        this.transactionReleaser = new TransactionReleaser(transactions, releaser);
        this.waiters = new WaiterRegistry(backend, settings, time);
        this.acquirer = new Acquirer(backend, settings, time, waiters, releaser, dispatcher, this::grantsLocks);
    }

    @Override
    public LockHandle acquire(LockRequest request) {
        LeaseHandle outer = outerHandle(request.key());
        return outer == null ? hold(request, acquirer.acquire(request)) : join(outer, request);
    }

    @Override
    public @Nullable LockHandle tryAcquire(LockRequest request) {
        LeaseHandle outer = outerHandle(request.key());
        if (outer != null) {
            return join(outer, request);
        }
        GrantedLease grant = acquirer.tryAcquire(request);
        return grant == null ? null : hold(request, grant);
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
        LockHandle own = monitor.find(LockLimits.lockId(lockId));
        return own == null ? releaser.release(lockId, settings.ttl()) : own.release();
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        ExtendRequest request = new ExtendRequest(LockLimits.lockId(lockId), LockLimits.ttl(ttl));
        LockHandle own = monitor.find(lockId);
        if (own != null) {
            return own.extend(ttl) ? Optional.of(own.expiresAt()) : Optional.empty();
        }
        return renewer.extend(request);
    }

    /** Grants locks again after {@link #stop}. A new engine needs no start. */
    public void start() {
        grantsLocks = true;
    }

    /**
     * Grants no more locks, waits up to the shutdown timeout for those that are held to be released, with heartbeats going
     * on, and releases what is left: its holders learn that they lost it. Callers who wait for a lock are aborted.
     */
    public void stop() {
        grantsLocks = false;
        // None of them tries again.
        waiters.wakeAll().forEach(releaser::leaveQueue);
        monitor.awaitNone(settings.shutdownTimeout());
        for (Lease lease : monitor.leases()) {
            lease.lose(LockReason.SHUTDOWN, "it was still held when the application shut down");
            releaser.releaseLater(lease);
        }
        releaser.flush();
    }

    /** {@link #stop Stops} if that is still to be done, ends all threads and closes the backend. */
    @Override
    public void close() {
        if (grantsLocks || !monitor.leases().isEmpty()) {
            stop();
        }
        waiters.close();
        releaser.close();
        renewer.close();
        monitor.close();
        dispatcher.close();
        backend.close();
    }

    boolean grantsLocks() {
        return grantsLocks;
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

    private LockHandle hold(LockRequest request, GrantedLease grant) {
        LeaseBodies bodies = new LeaseBodies();
        Lease lease = new Lease(time, request, grant, (lost, reason, explanation) -> {
            List<Runnable> callbacks = bodies.tell();
            monitor.remove(lost);
            dispatcher.lost(lost, reason, explanation, callbacks);
        });
        LeaseHandle handle = new LeaseHandle(lease, bodies, renewer, transactionReleaser, dispatcher);
        monitor.add(lease, handle);
        renewer.schedule(lease);
        fenceWarning.check(grant.fence(), request.key());
        dispatcher.dispatch(request, grant.fence(), grant.waited(), LockListener::acquired);
        // Checked after the lease was added: either the engine that stops finds it, or this thread finds that it stops.
        if (!grantsLocks) {
            releaser.release(lease);
            throw Acquirer.shuttingDown(request.key());
        }
        transactionReleaser.keepUntilEnd(handle);
        return handle;
    }

    /** The handle that a request of the running thread for this key is nested in. */
    private @Nullable LeaseHandle outerHandle(String key) {
        for (LockHandle handle : CurrentLocks.innermostFirst()) {
            LeaseHandle outer = LeaseHandle.of(handle);
            if (outer != null && outer.isOf(transactionReleaser) && isOpenFor(key, outer)) {
                return outer;
            }
        }
        for (LeaseHandle pending : transactionReleaser.pending()) {
            if (isOpenFor(key, pending)) {
                return pending;
            }
        }
        return null;
    }

    private static boolean isOpenFor(String key, LockHandle handle) {
        return handle.key().equals(key) && handle.state() != LockHandle.State.RELEASED;
    }

    private LockHandle join(LeaseHandle outer, LockRequest request) {
        if (request.mode() == LockMode.EXCLUSIVE && outer.mode() == LockMode.SHARED) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "Lock '" + request.key()
                            + "' is held in mode SHARED where an exclusive one is asked for, which would wait"
                            + " for itself: take it exclusively from the start, or end the shared one first");
        }
        JoinedHandle joined = new JoinedHandle(outer, request);
        outer.requireHeld(joined);
        if (request.heartbeat()) {
            outer.lease().schedule().switchOn(request);
            renewer.schedule(outer.lease());
        }
        return joined;
    }
}
