package io.syncguard.postgres;

import io.syncguard.BackendInfo;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.ContendedKeys;
import io.syncguard.jdbc.PooledDataSource;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.jdbc.Sweeper;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Batching;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LeasePins;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreInfo;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in tables of a PostgreSQL database. Each operation is one statement in autocommit, in one round trip: a
 * call of a function in {@code R__syncguard_schema.sql}, or a query. Only if a key is contended and was not lately, an
 * acquire or a release needs a second one.
 */
public final class PostgresLockBackend implements LockBackend {

    /** Maximum number of acquire requests in one statement, and of releases. */
    private static final int BATCH_SIZE = 64;

    /**
     * Two threads never wait for each other. From the third on, sharing a statement costs less than sending another
     * one.
     */
    private static final int STATEMENTS = 2;

    private final DataSource dataSource;
    private final DataSource engineDataSource;
    private final PostgresSearchPath searchPath;
    private final RunningRequests requests;
    private final PostgresConnections connections;
    private final PostgresConnections engineConnections;
    private final Sweeper sweeper;
    private final @Nullable DataSource wakeUpDataSource;
    private final PostgresSettings settings;
    private final Time time;
    private final Runnable onClose;

    /** Set before the first acquire request; {@code null} if waiters poll. */
    private volatile @Nullable WakeUpSubscriber wakeUps;

    /** Makes the next subscriber, after a stop of the engine. */
    private Runnable subscribing = () -> {};

    private final StoreInfo info;
    private final PostgresAcquires acquires;
    private final PostgresReleases releases;
    private final RenewStatement renew;
    private final ExtendStatement extend;
    private final PostgresDirectory directory;
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
        this.sweeper = new Sweeper(new PostgresSweeps(connections, settings, time), settings.cleanupInterval(), time);
        this.onClose = onClose;
        this.info = infoOf(settings);
        ContendedKeys contended = new ContendedKeys();
        ReleaseStatement release = new ReleaseStatement(settings);
        this.acquires =
                new PostgresAcquires(new AcquireStatement(settings), connections, contended, this::availableWakeUps);
        this.releases =
                new PostgresReleases(release, connections, engineConnections, contended, this::availableWakeUps);
        this.renew = new RenewStatement(settings);
        this.extend = new ExtendStatement(settings.tables());
        this.directory = new PostgresDirectory(
                connections, settings.tables(), release, settings.cleanupInIsLocked() ? sweeper::sweepSoon : key -> {});
        this.pins = new PostgresPins(connections, settings, time);
    }

    /**
     * The in-doubt period has two timeouts: the first until the statement reaches the server, the second until the
     * server ends it. A commit that waits for a synchronous standby may take longer; such a grant lives until its ttl
     * ends.
     */
    private static StoreInfo infoOf(PostgresSettings settings) {
        return new StoreInfo(
                new BackendInfo("postgres", true, BackendInfo.Clock.SERVER),
                settings.timeout(),
                settings.waiterTtl(),
                settings.timeout().multipliedBy(2),
                1,
                new Batching(STATEMENTS, BATCH_SIZE));
    }

    @Override
    public StoreInfo info() {
        return info;
    }

    @Override
    public String lockIdFor(String key, String random) {
        return PostgresLockIds.of(key, random);
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        List<AcquireResult> results = acquires.acquire(requests, extent);
        if (results.stream().anyMatch(AcquireResult.Queued.class::isInstance)) {
            somebodyWaits();
        }
        return CompletableFuture.completedFuture(results);
    }

    private void somebodyWaits() {
        WakeUpSubscriber current = wakeUps;
        if (current != null) {
            current.start();
        }
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return CompletableFuture.completedFuture(releases.release(requests));
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return CompletableFuture.completedFuture(
                switch (requests.get(0).kind()) {
                    case HEARTBEAT -> extend.run(engineConnections, requests);
                    case HOLDER -> extend.run(connections, requests);
                    case NEXT_FENCE -> List.of(extend.rotate(connections, requests.get(0)));
                });
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        somebodyWaits();
        return CompletableFuture.completedFuture(renew.run(
                engineConnections, entries.stream().map(KeyedLockId::lockId).toList()));
    }

    /** Returns {@code null} while wake-ups cannot reach this process. Its waiters then poll, and get no hand-overs. */
    private @Nullable WakeUpSubscriber availableWakeUps() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isAvailable() ? current : null;
    }

    @Override
    public BooleanSupplier connect(WakeUpListener engine) {
        DataSource source = wakeUpDataSource;
        if (source != null) {
            subscribing = () -> subscribe(source, engine);
            subscribing.run();
        }
        return this::isConnected;
    }

    private void subscribe(DataSource source, WakeUpListener engine) {
        String channel = "syncguard_" + UUID.randomUUID();
        PostgresSessions sessions = new PostgresSessions(source, settings.timeout(), searchPath);
        wakeUps = new WakeUpSubscriber(
                "PostgreSQL", channel, new PostgresSubscription(channel, sessions, engineConnections), engine, time);
    }

    private boolean isConnected() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isConnected();
    }

    @Override
    public LockDirectory directory() {
        return directory;
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
        Shielded.closeAll(sweeper, onClose::run, requests);
    }
}
