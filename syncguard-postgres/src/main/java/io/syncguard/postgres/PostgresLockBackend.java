package io.syncguard.postgres;

import io.syncguard.ForcedRelease;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.postgres.batching.Batcher;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LeasePins;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in tables of a PostgreSQL database. Each operation is one statement in autocommit, in one round trip: a
 * call of a function in {@code R__syncguard_schema.sql}, or a query. Only if a key is contended and was not lately, an
 * acquire or a release needs a second one.
 */
public final class PostgresLockBackend implements LockBackend {

    private final DataSource dataSource;
    private final DataSource engineDataSource;
    private final PostgresSearchPath searchPath;
    private final RunningRequests requests;
    private final PostgresConnections connections;
    private final PostgresConnections engineConnections;
    private final PostgresSweeper sweeper;
    private final @Nullable DataSource wakeUpDataSource;
    private final PostgresSettings settings;
    private final Time time;
    private final Runnable onClose;

    /** Set before the first acquire request; {@code null} if waiters poll. */
    private volatile @Nullable WakeUpSubscriber wakeUps;

    /** Makes the next subscriber, after a stop of the engine. */
    private Runnable subscribing = () -> {};

    private final ContendedKeys contended = new ContendedKeys();
    private final CallerRequests callers;
    private final RenewStatement renew;
    private final ExtendStatement extend;
    private final ReleaseStatement release;
    private final LookupStatement lookup;
    private final ListStatement list;
    private final BlockersStatement blockers;
    private final PostgresPins pins;

    /**
     * @param dataSource gives connections in autocommit, for requests of callers
     * @param engineDataSource gives connections in autocommit, one for each thread of the engine that sends requests,
     *     so that heartbeats, safety polls and background releases wait neither for callers nor for each other
     * @param wakeUpDataSource gives one connection in autocommit, which receives wake-ups from the first wait on;
     *     {@code null} if waiters poll
     * @param settings names and times
     * @param onClose closes the pools
     */
    public PostgresLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            @Nullable DataSource wakeUpDataSource,
            PostgresSettings settings,
            Runnable onClose) {
        this(dataSource, engineDataSource, wakeUpDataSource, settings, onClose, Time.SYSTEM);
    }

    PostgresLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            @Nullable DataSource wakeUpDataSource,
            PostgresSettings settings,
            Runnable onClose,
            Time time) {
        this(
                dataSource,
                engineDataSource,
                wakeUpDataSource,
                settings,
                onClose,
                time,
                CallerRequests.limits(settings, false));
    }

    /** @param batches {@code null} for a statement for each request */
    PostgresLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            @Nullable DataSource wakeUpDataSource,
            PostgresSettings settings,
            Runnable onClose,
            Time time,
            Batcher.@Nullable Limits batches) {
        this.settings = settings;
        this.time = time;
        this.dataSource = dataSource;
        this.engineDataSource = engineDataSource;
        this.searchPath = new PostgresSearchPath(settings.tables());
        this.requests = new RunningRequests(time);
        this.connections = new PostgresConnections(dataSource, settings.timeout(), searchPath, requests);
        // The thread that stops the engine may be interrupted.
        this.engineConnections =
                new PostgresConnections(engineDataSource, settings.timeout(), searchPath, requests).uninterruptible();
        this.wakeUpDataSource = wakeUpDataSource;
        this.sweeper = new PostgresSweeper(connections, settings, time);
        this.onClose = onClose;
        this.renew = new RenewStatement(settings);
        this.extend = new ExtendStatement(settings.tables());
        this.release = new ReleaseStatement(settings);
        this.lookup = new LookupStatement(settings.tables());
        this.list = new ListStatement(settings.tables());
        this.blockers = new BlockersStatement(settings.tables());
        this.pins = new PostgresPins(connections, settings, time);
        this.callers =
                new CallerRequests(settings, connections, release, contended, this::availableWakeUps, time, batches);
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public String lockIdFor(String key, String random) {
        return PostgresLockIds.of(key, random);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        AcquireResult result = callers.acquire(request);
        if (result instanceof AcquireResult.Queued) {
            somebodyWaits();
        }
        remember(request, result, wakeUps != null);
        return result;
    }

    private void somebodyWaits() {
        WakeUpSubscriber current = wakeUps;
        if (current != null) {
            current.start();
        }
    }

    private void remember(AcquireRequest request, AcquireResult result, boolean isWoken) {
        if (result instanceof AcquireResult.Granted) {
            if (!request.queued()) {
                contended.free(request.key());
            }
        } else if (result instanceof AcquireResult.Queued
                && isWoken
                && request.handOver()
                && request.mode() == LockMode.EXCLUSIVE) {
            contended.queued(request.key());
        } else {
            contended.taken(request.key());
        }
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return callers.acquireTogether(requests, extent);
    }

    /** Returns {@code null} while wake-ups cannot reach this process. Its waiters then poll, and get no hand-overs. */
    private @Nullable WakeUpSubscriber availableWakeUps() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isAvailable() ? current : null;
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        somebodyWaits();
        return renew.run(engineConnections, lockIds(ids));
    }

    @Override
    public Duration waiterTtl() {
        return settings.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener engine) {
        DataSource source = wakeUpDataSource;
        if (source != null) {
            subscribing = () -> subscribe(source, engine);
            subscribing.run();
        }
    }

    private void subscribe(DataSource source, WakeUpListener engine) {
        String channel = "syncguard_" + UUID.randomUUID();
        PostgresSessions sessions = new PostgresSessions(source, settings.timeout(), searchPath);
        wakeUps = new WakeUpSubscriber(
                "PostgreSQL", channel, new PostgresSubscription(channel, sessions, engineConnections), engine, time);
    }

    @Override
    public boolean isConnected() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isConnected();
    }

    /** The statements find a lease by its lock id, which has an index. */
    private static List<String> lockIds(List<KeyedLockId> ids) {
        return ids.stream().map(KeyedLockId::lockId).toList();
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return callers.release(id);
    }

    @Override
    public List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        return callers.releaseTogether(ids);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return release.all(engineConnections, lockIds(ids));
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return release.after(connections.uninterruptible(), id.lockId(), held);
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        return extend.run(engineConnections, extensions);
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend.run(connections, List.of(extension)).get(0);
    }

    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        return extend.rotate(connections, extension);
    }

    @Override
    public boolean isLocked(String key) {
        Optional<Boolean> live = lookup.isLocked(connections, key);
        if (live.isPresent() && !live.get()) {
            sweeper.sweepSoon(key);
        }
        return live.orElse(false);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return lookup.byKey(connections, key);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return lookup.byId(connections, id.lockId());
    }

    @Override
    public LockPage list(LockQuery query) {
        return list.list(connections, query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return list.status(connections, key).stream().findFirst();
    }

    @Override
    public List<BlockingSession> blockingSessions(String key) {
        return blockers.blockers(connections, key);
    }

    @Override
    public LeasePins pins() {
        return pins;
    }

    @Override
    public @Nullable PoolStatus pool() {
        return dataSource instanceof PooledDataSource pool ? pool.status() : null;
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return release.force(connections, key);
    }

    /**
     * Two timeouts: the first until the statement reaches the server, the second until the server ends it. A commit
     * that waits for a synchronous standby may take longer; such a grant lives until its ttl ends.
     */
    @Override
    public Duration inDoubtPeriod() {
        return settings.timeout().multipliedBy(2);
    }

    @Override
    public void disconnect() {
        sweeper.pause();
        WakeUpSubscriber current = wakeUps;
        if (current != null) {
            Shielded.closeAll(current);
            subscribing.run();
        }
        pools().forEach(PooledDataSource::disconnect);
    }

    @Override
    public void reconnect() {
        sweeper.resume();
        pools().filter(pool -> pool != wakeUpDataSource).forEach(PooledDataSource::reconnect);
    }

    private Stream<PooledDataSource> pools() {
        return Stream.of(Optional.of(dataSource), Optional.of(engineDataSource), Optional.ofNullable(wakeUpDataSource))
                .flatMap(Optional::stream)
                .filter(PooledDataSource.class::isInstance)
                .map(PooledDataSource.class::cast);
    }

    @Override
    public void close() {
        if (wakeUps != null) {
            Shielded.closeAll(wakeUps);
        }
        Shielded.closeAll(sweeper, callers, onClose::run, requests);
    }
}
