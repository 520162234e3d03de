package io.syncguard.core;

import io.syncguard.LockLimits;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.LeasePins;
import io.syncguard.spi.LockBackend;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** What operators see of an engine and its store, beyond what applications need. Thread-safe. */
public final class EngineDiagnostics {

    private final LockBackend backend;
    private final EngineSettings settings;
    private final LeaseMonitor monitor;
    private final WaiterRegistry waiters;
    private final Heartbeat heartbeat;
    private final StoreHealth health;
    private final StoreContact contact;
    private final StoreRequests requests;
    private final LongSupplier forcedReleases;
    private final BooleanSupplier grantsLocks;

    EngineDiagnostics(
            LockBackend backend,
            EngineSettings settings,
            LeaseMonitor monitor,
            WaiterRegistry waiters,
            Heartbeat heartbeat,
            StoreHealth health,
            StoreContact contact,
            StoreRequests requests,
            LongSupplier forcedReleases,
            BooleanSupplier grantsLocks) {
        this.backend = backend;
        this.settings = settings;
        this.monitor = monitor;
        this.waiters = waiters;
        this.heartbeat = heartbeat;
        this.health = health;
        this.contact = contact;
        this.requests = requests;
        this.forcedReleases = forcedReleases;
        this.grantsLocks = grantsLocks;
    }

    /** Begins to acquire and release a reserved key, at most once a second. Does not wait. */
    public void beginCheck() {
        health.begin();
    }

    /**
     * Acquires and releases a reserved key, at most once a second. Waits for half a second at most: after that, what is
     * known of the store counts.
     *
     * @throws io.syncguard.LockBackendException while the store grants no locks
     */
    public void checkStore() {
        health.check();
    }

    /** The requests of this process to the store since its start. No I/O. */
    public StoreRequests requests() {
        return requests;
    }

    /** How many leases, of all processes, this one has released by force. */
    public long forcedReleases() {
        return forcedReleases.getAsLong();
    }

    /** What this process holds and waits for. No I/O. */
    public ProcessStatus process() {
        return new ProcessStatus(
                backend.info().name(),
                settings.owner(),
                grantsLocks.getAsBoolean(),
                monitor.leases().size(),
                heartbeat.overdue(),
                waiters.size(),
                heartbeat.sinceSuccess(),
                heartbeat.failures(),
                contact.outage(),
                waiters.wakeUps(),
                backend.pool());
    }

    /** The locks that this process holds, then those that its callers wait for, by arrival. No I/O. */
    public List<LocalLock> locks() {
        return Stream.concat(
                        monitor.held(settings).stream(),
                        waiters.queued().stream().map(caller -> caller.waitsFor(settings)))
                .toList();
    }

    /** The sessions of the store's server that lock rows of the key: pins, and what keeps its operations waiting. */
    public List<BlockingSession> blockingSessions(String key) {
        String valid = LockLimits.key(key);
        LeasePins pins = backend.pins();
        return pins == null ? List.of() : pins.blockingSessions(valid);
    }
}
