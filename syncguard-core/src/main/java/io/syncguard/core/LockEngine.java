package io.syncguard.core;

import io.syncguard.CurrentLocks;
import io.syncguard.LockAdmin;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLimits;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.batching.BatchingBackend;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lock manager of one backend. It wires the classes of the engine, delegates, starts and stops.
 *
 * <p>A lease passes them in one direction: {@link Acquirer} gets a grant, {@link LeaseMonitor} watches the
 * deadline of the {@link Lease}, {@link Heartbeat} and {@link LeaseRenewer} extend it, {@link LockReleaser} ends it,
 * {@link ListenerDispatcher} informs the listeners. The application has a {@link LeaseHandle}.
 *
 * <p>Thread-safe. Its threads are daemons: {@code syncguard-waiters}, {@code syncguard-watch},
 * {@code syncguard-heartbeat}, {@code syncguard-release}, {@code syncguard-leaks}, the senders of {@link DueRequests},
 * and those of the dispatcher. Only some senders, some of the dispatcher's, and {@code syncguard-health} for each probe
 * are made after the engine.
 */
public final class LockEngine implements LockManager, AutoCloseable {

    private final LockBackend backend;
    private final EngineSettings settings;
    private final TransactionBoundary transactions;
    private final TransactionThreads threads = new TransactionThreads();
    private final Time time;
    private final ListenerDispatcher dispatcher;
    private final LeaseMonitor monitor;
    private final Heartbeat heartbeat;
    private final LeaseRenewer renewer;
    private final BackgroundReleaser backgroundReleaser;
    private final LockReleaser releaser;
    private final HandleJoiner joiner;
    private final WaiterRegistry waiters;
    private final Acquirer acquirer;
    private final Acquisitions acquisitions;
    private final LeaseHandles handles;
    private final SeveralLocks several;
    private final LockAdmin admin;
    private final EngineDiagnostics diagnostics;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean grantsLocks = true;

    /** On the clock. Written by the thread that starts or stops the application, read by all. */
    private volatile long grantsUntil = Time.NEVER;

    /** Written by the thread that stops the application, read by waiters. */
    private volatile @Nullable Thread stopping;

    /** Whether {@link #stop} has run to its end. Written by the thread that starts or stops the application. */
    private volatile boolean stopped;

    /**
     * Owns the backend: {@link #close} closes it.
     *
     * @param listeners may be a list that other threads change, such as a {@code CopyOnWriteArrayList}
     */
    public LockEngine(
            LockBackend backend,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<? extends LockListener> listeners) {
        this(backend, settings, transactions, listeners, LockObserver.NONE);
    }

    /** @param observer receives what happens to the locks of this engine */
    public LockEngine(
            LockBackend backend,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<? extends LockListener> listeners,
            LockObserver observer) {
        this(backend, settings, transactions, listeners, observer, Time.SYSTEM);
    }

    LockEngine(
            LockBackend store,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<? extends LockListener> listeners,
            LockObserver observer,
            Time time) {
        StoreContact contact = new StoreContact(time);
        StoreRequests requests = new StoreRequests();
        this.backend = new WatchedBackend(BatchingBackend.of(store, time), contact, requests, time);
        this.settings = settings;
        this.transactions = transactions;
        this.time = time;
        this.dispatcher = new ListenerDispatcher(backend.info().name(), listeners, observer);
        LeaseReports reports = new LeaseReports(dispatcher);
        this.monitor =
                new LeaseMonitor(time, new LeakDetector(settings.leakDetectionThreshold(), reports, time), dispatcher);
        FenceWarning fenceWarning = new FenceWarning(time);
        this.heartbeat = new Heartbeat(backend, monitor, reports, time);
        this.renewer = new LeaseRenewer(backend, monitor, heartbeat, reports, fenceWarning, time);
        this.waiters = new WaiterRegistry(backend, settings, time);
        this.backgroundReleaser = new BackgroundReleaser(backend, waiters, time);
        this.releaser = new LockReleaser(backend, backgroundReleaser, waiters, monitor, reports);
        ForcedReleaser forcedReleaser = new ForcedReleaser(backend, monitor, dispatcher, time);
        this.admin = new StoreAdmin(backend, monitor, forcedReleaser);
        EngineParts parts = new EngineParts(
                backend, settings, time, transactions, threads, dispatcher, reports, monitor, renewer, releaser);
        this.joiner = new HandleJoiner(parts, heartbeat);
        this.acquisitions = new Acquisitions(time);
        this.acquirer = new Acquirer(
                backend,
                settings,
                time,
                waiters,
                backgroundReleaser,
                dispatcher,
                this::grantsLocks,
                this::waitsOn,
                monitor::holds,
                acquisitions::granted);
        this.handles = new LeaseHandles(parts, heartbeat, backgroundReleaser, fenceWarning, this::grantsLocks);
        this.several = new SeveralLocks(parts, joiner, acquisitions, acquirer, handles, backgroundReleaser);
        this.diagnostics = new EngineDiagnostics(
                backend,
                settings,
                monitor,
                waiters,
                heartbeat,
                new StoreHealth(backend, contact, time),
                contact,
                requests,
                forcedReleaser::number,
                this::grantsLocks);
    }

    @Override
    public LockHandle acquire(LockRequest asked) {
        LockRequest request = settings.configured(LockLimits.requireNonNull("request", asked));
        transactions.requireGuard(request);
        LockHandle joined = joiner.join(request);
        return joined == null ? acquisitions.run(() -> handles.handOut(acquirer.acquire(request))) : joined;
    }

    @Override
    public LockHandles acquire(List<LockRequest> requests) {
        return several.acquire(requests);
    }

    @Override
    public @Nullable LockHandles tryAcquire(List<LockRequest> requests) {
        return several.tryAcquire(requests);
    }

    @Override
    public @Nullable LockHandle tryAcquire(LockRequest asked) {
        LockRequest request = settings.configured(LockLimits.requireNonNull("request", asked));
        transactions.requireGuard(request);
        LockHandle joined = joiner.join(request);
        if (joined != null) {
            return joined;
        }
        return acquisitions.run(() -> {
            GrantedLease grant = acquirer.tryAcquire(request);
            return grant == null ? null : handles.handOut(grant);
        });
    }

    @Override
    public boolean isLocked(String key) {
        String valid = LockLimits.key(key);
        return BackendFailure.ask(() -> backend.directory().isLocked(valid));
    }

    @Override
    public boolean owns(String lockId) {
        return admin.debugLookupById(lockId).isPresent();
    }

    @Override
    public boolean release(String lockId) {
        LockHandle own = monitor.find(LockLimits.lockId(lockId));
        return own == null ? BackendFailure.ask(() -> releaser.release(lockId, settings.ttl())) : own.release();
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        KeyedLockId id = new KeyedLockId(LockLimits.lockId(lockId));
        LockLimits.ttl(ttl);
        LockHandle own = monitor.find(lockId);
        if (own != null) {
            return own.extend(ttl) ? Optional.of(own.expiresAt()) : Optional.empty();
        }
        return BackendFailure.ask(() -> renewer.extend(id, ttl));
    }

    @Override
    public LockAdmin admin() {
        // A separate object: otherwise each bean of type LockManager would also be found as a LockAdmin.
        return admin;
    }

    /** What operators see of this engine, beyond what applications need. */
    public EngineDiagnostics diagnostics() {
        return diagnostics;
    }

    /** Grants locks again after {@link #stop}. A new engine needs no start. */
    public void start() {
        backend.reconnect();
        backgroundReleaser.start();
        waiters.wakeAllAt(Time.NEVER);
        waiters.endAborts();
        stopping = null;
        grantsUntil = Time.NEVER;
        stopped = false;
        grantsLocks = true;
    }

    /**
     * Aborts callers that wait and hold no lock, because the application begins to stop: nothing was done for them, and
     * its components would wait for them. Until {@link #drain} or {@link #stop}, it aborts after pauses those that come
     * meanwhile. Locks are granted as before, and work under a lock waits for its further locks.
     *
     * @param caller the thread that stops the application, which may wait, too
     */
    public void abortWaiters(Thread caller) {
        stopping = caller;
        waiters.abortAll();
    }

    /**
     * Begins the end of an application that waits for tasks before it {@link #close closes} the engine: the tasks may
     * still need locks. Waits until holders have released their locks. The shutdown timeout ends this wait, and from
     * then on no lock is granted and waiting callers are aborted; {@link #stop} waits for what is left of it.
     */
    public void drain() {
        drain(Thread.currentThread());
    }

    /** @param caller the thread that stops the application, in place of the running one */
    public void drain(Thread caller) {
        long until = time.nanoTime() + settings.shutdownTimeout().toNanos();
        grantsUntil = until;
        waiters.endAborts();
        waiters.wakeAllAt(until);
        monitor.awaitNone(settings.shutdownTimeout(), new EndingThreads(caller));
    }

    /**
     * Grants no more locks and aborts waiting callers. Waits until holders have released their locks, at most for the
     * shutdown timeout, while heartbeats go on. Then releases the others, which are lost for their holders. At the
     * beginning and after that wait, requests under way have the in-doubt period of the store to end. It waits for no
     * thread that has asked for the end of the application: see {@link EndingThreads}. At last, the store closes its
     * connections.
     */
    public void stop() {
        stop(Thread.currentThread());
    }

    /** @param caller the thread that stops the application, in place of the running one */
    public void stop(Thread caller) {
        stop(caller, settings.shutdownTimeout());
    }

    /** @param atMost how long it waits for holders, in place of the shutdown timeout */
    public void stop(Thread caller, Duration atMost) {
        EndingThreads ending = new EndingThreads(caller);
        long until = Math.min(grantsUntil, time.nanoTime() + atMost.toNanos());
        grantsLocks = false;
        waiters.endAborts();
        // None of these waiters tries again.
        waiters.wakeAll().forEach(backgroundReleaser::release);
        acquisitions.awaitAllBut(ending, backend.info().inDoubtPeriod());
        // The callers of the others do not go on: listeners of theirs hang, or stop the engine.
        waiters.queuedIds().forEach(backgroundReleaser::release);
        giveBack(acquisitions.grantedTo(ending));
        monitor.awaitNone(Duration.ofNanos(until - time.nanoTime()), ending);
        monitor.leases().forEach(this::lose);
        monitor.awaitReleases(backend.info().inDoubtPeriod(), ending);
        backgroundReleaser.flush();
        Shielded.closeAll(backend::disconnect);
        stopped = true;
    }

    /** {@link #stop Stops} the engine if it still runs, ends all threads and closes the backend. */
    @Override
    public void close() {
        Shielded.closeAll(this::stopIfRunning, waiters, backgroundReleaser, heartbeat, monitor, dispatcher, backend);
    }

    boolean grantsLocks() {
        return grantsLocks && time.nanoTime() < grantsUntil;
    }

    /** Whether the running thread waits on while the application stops: it works under a lock, or stops it. */
    private boolean waitsOn() {
        Thread thread = Thread.currentThread();
        return thread == stopping
                || !CurrentLocks.innermostFirst().isEmpty()
                || !threads.pending().isEmpty()
                || holdsWithoutBody(thread);
    }

    /**
     * Whether the thread's own code is the body under a lease. A lease that has run bodies may be that of a future, and
     * the thread works at something else. What the running acquisition was granted is not in use yet.
     */
    private boolean holdsWithoutBody(Thread thread) {
        Set<String> unused = acquisitions.grantedToRunningThread();
        return monitor.acquiredBy(thread)
                .map(LeaseHandle::of)
                .filter(Objects::nonNull)
                .anyMatch(handle ->
                        !unused.contains(handle.lockId()) && !handle.bodies().haveBegun());
    }

    /** What no caller will get is released before the engine waits for holders. */
    private void giveBack(List<AcquireRequest> granted) {
        backgroundReleaser.release(granted);
        Set<String> lockIds = granted.stream().map(AcquireRequest::lockId).collect(Collectors.toSet());
        monitor.leases().stream()
                .filter(lease -> lockIds.contains(lease.lockId()))
                .forEach(this::lose);
    }

    private void lose(Lease lease) {
        lease.lose(LockReason.SHUTDOWN, "it was still held when the application shut down");
        // Its holder may be about to release it: a second release would take the first one's answer away.
        if (lease.phase() == Lease.Phase.LOST) {
            backgroundReleaser.release(lease);
        }
    }

    private void stopIfRunning() {
        if (!stopped) {
            stop();
        }
    }
}
