package io.syncguard.portable;

import io.syncguard.BackendInfo;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.ContendedKeys;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.PooledDataSource;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.jdbc.Sweeper;
import io.syncguard.portable.KeyRows.States;
import io.syncguard.portable.KeySteps.Locking;
import io.syncguard.rules.Decision;
import io.syncguard.rules.KeyRules;
import io.syncguard.rules.KeyState;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.AcquireResult.Undecided;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in tables of any database that locks rows. Each operation is one transaction, which runs the
 * {@linkplain KeyRules rules} under the locked rows of its keys.
 */
public final class PortableLockBackend implements LockBackend {

    /** Maximum number of acquire requests in one transaction, and of releases. */
    private static final int BATCH_SIZE = 64;

    /** From the third thread on, sharing a transaction costs less than another one. */
    private static final int TRANSACTIONS = 2;

    private final DataSource dataSource;
    private final DataSource engineDataSource;
    private final RunningRequests requests;
    private final JdbcConnections connections;
    private final JdbcConnections engineConnections;
    private final KeyRules rules;
    private final KeySteps steps;
    private final LeaseRows leases;
    private final WakeUpLooks looks;
    private final Sweeper sweeper;
    private final ContendedKeys contended = new ContendedKeys();
    private final StoreInfo info;
    private final LockDirectory directory;
    private final @Nullable LeasePins pins;
    private final Runnable onClose;

    /**
     * @param dataSource gives connections in autocommit, for requests of callers
     * @param engineDataSource gives connections in autocommit, one for each thread of the engine that sends requests
     * @param onClose closes the pools
     */
    public PortableLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            Dialect dialect,
            PortableTables tables,
            PortableSettings settings,
            Runnable onClose) {
        this(dataSource, engineDataSource, dialect, tables, settings, onClose, Time.SYSTEM);
    }

    PortableLockBackend(
            DataSource dataSource,
            DataSource engineDataSource,
            Dialect dialect,
            PortableTables tables,
            PortableSettings settings,
            Runnable onClose,
            Time time) {
        this.dataSource = dataSource;
        this.engineDataSource = engineDataSource;
        this.onClose = onClose;
        this.requests = new RunningRequests(time);
        PortableSessions sessions = new PortableSessions(dialect, settings.timeout());
        this.connections = new JdbcConnections(dataSource, sessions, settings.timeout(), requests);
        // The thread that stops the engine may be interrupted.
        this.engineConnections =
                new JdbcConnections(engineDataSource, sessions, settings.timeout(), requests).uninterruptible();
        this.rules = new KeyRules(settings.waiterTtl(), settings.fences());
        this.leases = new LeaseRows(engineConnections, sessions, dialect, tables, settings.waiterTtl());
        String channel = UUID.randomUUID().toString();
        this.looks = new WakeUpLooks(leases, channel, settings.waiterTtl(), time);
        this.steps = new KeySteps(sessions, dialect, tables, channel, looks::deliver);
        PortableSweeps sweeps = new PortableSweeps(leases, steps, rules, engineConnections);
        this.sweeper = new Sweeper(sweeps, settings.cleanupInterval(), time);
        this.directory = new PortableDirectory(connections, steps, rules, leases);
        Dialect.Pinning pinning = dialect.pinning();
        this.pins = pinning == null ? null : new PortablePins(connections, dialect, pinning, tables, time);
        this.info = new StoreInfo(
                new BackendInfo("jdbc", true, BackendInfo.Clock.SERVER),
                settings.timeout(),
                settings.waiterTtl(),
                settings.timeout().multipliedBy(2),
                1,
                new Batching(TRANSACTIONS, BATCH_SIZE));
    }

    @Override
    public StoreInfo info() {
        return info;
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        List<AcquireResult> results = new Acquiring(requests).acquire(extent);
        for (int i = 0; i < requests.size(); i++) {
            remember(requests.get(i), results.get(i));
        }
        return CompletableFuture.completedFuture(results);
    }

    private void remember(AcquireRequest request, AcquireResult result) {
        if (result instanceof AcquireResult.Queued) {
            looks.queued(request.lockId());
        } else if (request.queued()) {
            looks.left(request.lockId());
        }
        if (result instanceof AcquireResult.Granted) {
            contended.free(request.key());
        } else if (!(result instanceof Undecided)) {
            contended.taken(request.key());
        }
    }

    /** One list of acquire requests. */
    private final class Acquiring {

        private final List<AcquireRequest> requests;
        private final Collection<String> keys;
        private final String doing;
        private final Duration limit;

        Acquiring(List<AcquireRequest> requests) {
            this.requests = requests;
            this.keys = requests.stream().map(AcquireRequest::key).distinct().toList();
            this.doing = "acquiring lock '" + requests.get(0).key() + "'" + (requests.size() == 1 ? "" : " and others");
            this.limit = connections.networkTimeout(requests.stream()
                    .map(request -> request.options().ttl())
                    .min(Duration::compareTo)
                    .orElseThrow());
        }

        List<AcquireResult> acquire(GrantExtent extent) {
            return switch (extent) {
                case ONE -> List.of(alone(requests.get(0)));
                case EACH -> steps.run(doing, connections, limit, keys, Locking.SKIPPING, this::each);
                case NOTHING -> look(extent);
                case ALL, IN_FRONT -> together(extent);
            };
        }

        /** Looks first at a key that was not granted lately: a refusal writes nothing, and locks no row. */
        private AcquireResult alone(AcquireRequest request) {
            if (!request.queued() && request.waiterNumber() == null && contended.isContended(request.key())) {
                States seen = steps.look(doing, connections, limit, keys);
                KeyState key = seen.of(request.key());
                AcquireResult answer =
                        rules.acquire(key, request, null, seen.now()).answer();
                if (answer instanceof AcquireResult.Refused && !key.has(request.lockId())) {
                    return answer;
                }
            }
            return steps.run(doing, connections, limit, keys, Locking.CREATING, locked -> granted(locked, request));
        }

        private List<AcquireResult> each(KeySteps.Keys locked) {
            List<AcquireResult> results = new ArrayList<>();
            for (AcquireRequest request : requests) {
                results.add(locked.has(request.key()) ? granted(locked, request) : Undecided.UNDECIDED);
            }
            return results;
        }

        private AcquireResult granted(KeySteps.Keys locked, AcquireRequest request) {
            return locked.done(rules.acquire(locked.of(request.key()), request, looks.channel(), locked.now()));
        }

        private List<AcquireResult> together(GrantExtent extent) {
            if (keys.stream().anyMatch(contended::isContended)) {
                List<AcquireResult> seen = look(GrantExtent.NOTHING);
                if (extent == GrantExtent.ALL && seen.stream().anyMatch(AcquireResult.Refused.class::isInstance)) {
                    return seen;
                }
            }
            return steps.run(
                    doing,
                    connections,
                    limit,
                    keys,
                    Locking.CREATING,
                    locked -> rules
                            .acquireTogether(
                                    requests.stream()
                                            .map(request -> locked.of(request.key()))
                                            .toList(),
                                    requests,
                                    extent,
                                    locked.now())
                            .stream()
                            .map(locked::done)
                            .toList());
        }

        private List<AcquireResult> look(GrantExtent extent) {
            States seen = steps.look(doing, connections, limit, keys);
            List<KeyState> states =
                    requests.stream().map(request -> seen.of(request.key())).toList();
            return rules.acquireTogether(states, requests, extent, seen.now()).stream()
                    .<AcquireResult>map(Decision::answer)
                    .toList();
        }
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        boolean handsOver = requests.get(0).handsOver() || requests.get(0).heldFor() != null;
        boolean waits = requests.get(0).waits() && (requests.size() == 1 || !handsOver);
        requests.forEach(request -> looks.left(request.id().lockId()));
        if (requests.size() == 1 && releasedUnawaited(requests.get(0))) {
            return CompletableFuture.completedFuture(List.of(ReleaseResult.RELEASED));
        }
        List<KeyedLockId> ids = keyed(requests.stream().map(ReleaseRequest::id).toList());
        return CompletableFuture.completedFuture(steps.run(
                "releasing a lock",
                handsOver ? connections.uninterruptible() : engineConnections,
                info.timeout(),
                keysOf(ids),
                waits ? Locking.WAITING : Locking.SKIPPING,
                locked -> {
                    List<ReleaseResult> results = new ArrayList<>();
                    for (int i = 0; i < ids.size(); i++) {
                        results.add(released(locked, ids.get(i), requests.get(i)));
                    }
                    return results;
                }));
    }

    /** Nobody waits for most keys. Their release needs no rule, and one round trip instead of two. */
    private boolean releasedUnawaited(ReleaseRequest request) {
        String key = request.id().key();
        return key != null
                && request.handsOver()
                && request.waits()
                && request.heldFor() == null
                && request.entering().isEmpty()
                && !contended.isContended(key)
                && steps.releaseUnawaited(
                        connections.uninterruptible(),
                        info.timeout(),
                        key,
                        request.id().lockId());
    }

    private ReleaseResult released(KeySteps.Keys locked, KeyedLockId id, ReleaseRequest request) {
        String key = id.key();
        if (key == null) {
            return ReleaseResult.NOT_FOUND;
        }
        if (!locked.has(key)) {
            return ReleaseResult.UNDECIDED;
        }
        KeyState state = locked.of(key);
        Duration held = request.heldFor();
        return locked.done(
                held != null
                        ? rules.releaseAfter(state, id.lockId(), held, locked.now())
                        : request.handsOver()
                                ? rules.handOver(state, id.lockId(), looks.channel(), locked.now())
                                : rules.release(state, id.lockId(), locked.now()));
    }

    /** Finds the keys where only the lock ids are known. */
    private List<KeyedLockId> keyed(List<KeyedLockId> ids) {
        List<String> unknown = ids.stream()
                .filter(id -> id.key() == null)
                .map(KeyedLockId::lockId)
                .toList();
        if (unknown.isEmpty()) {
            return ids;
        }
        List<@Nullable String> found = steps.keysOf(engineConnections, unknown);
        return ids.stream()
                .map(id ->
                        id.key() != null ? id : new KeyedLockId(found.get(unknown.indexOf(id.lockId())), id.lockId()))
                .toList();
    }

    private static Set<String> keysOf(List<KeyedLockId> ids) {
        Set<String> keys = new LinkedHashSet<>();
        ids.stream().map(KeyedLockId::key).filter(Objects::nonNull).forEach(keys::add);
        return keys;
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        requests.forEach(request -> looks.left(request.id().lockId()));
        return CompletableFuture.completedFuture(
                requests.get(0).kind() == ExtendRequest.Kind.HEARTBEAT
                        ? leases.extend(requests, this::extendByRules)
                        : extendByRules(requests));
    }

    private List<ExtendResult> extendByRules(List<ExtendRequest> requests) {
        List<KeyedLockId> ids = keyed(requests.stream().map(ExtendRequest::id).toList());
        return steps.run(
                "extending a lock",
                requests.get(0).kind() == ExtendRequest.Kind.HEARTBEAT ? engineConnections : connections,
                connections.networkTimeout(requests.get(0).ttl()),
                keysOf(ids),
                Locking.WAITING,
                locked -> {
                    List<ExtendResult> results = new ArrayList<>();
                    for (int i = 0; i < ids.size(); i++) {
                        results.add(extended(locked, ids.get(i), requests.get(i)));
                    }
                    return results;
                });
    }

    private ExtendResult extended(KeySteps.Keys locked, KeyedLockId id, ExtendRequest request) {
        if (id.key() == null) {
            return new ExtendResult.NotFound();
        }
        KeyState state = locked.of(id.key());
        return locked.done(
                request.kind() == ExtendRequest.Kind.NEXT_FENCE
                        ? rules.rotate(state, request, locked.now())
                        : rules.extend(state, request, locked.now()));
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        entries.forEach(entry -> looks.renewed(entry.lockId()));
        List<KeyedLockId> ids = keyed(entries);
        leases.renew(ids);
        Collection<String> keys = keysOf(ids);
        if (keys.isEmpty()) {
            return CompletableFuture.completedFuture(
                    ids.stream().map(id -> Duration.ZERO).toList());
        }
        States seen = steps.look("renewing places in queues", engineConnections, info.timeout(), keys);
        return CompletableFuture.completedFuture(ids.stream()
                .map(id -> id.key() == null
                        ? Duration.ZERO
                        : rules.renewWaiter(seen.of(id.key()), id.lockId(), seen.now())
                                .answer())
                .toList());
    }

    @Override
    public BooleanSupplier connect(WakeUpListener listener) {
        looks.connect(listener);
        return looks::areWorking;
    }

    @Override
    public LockDirectory directory() {
        return directory;
    }

    @Override
    public @Nullable LeasePins pins() {
        return pins;
    }

    @Override
    public @Nullable PoolStatus pool() {
        return dataSource instanceof PooledDataSource pool ? pool.status() : null;
    }

    @Override
    public void disconnect() {
        sweeper.pause();
        looks.pause();
        pools().forEach(PooledDataSource::disconnect);
    }

    @Override
    public void reconnect() {
        sweeper.resume();
        looks.resume();
        pools().forEach(PooledDataSource::reconnect);
    }

    private Stream<PooledDataSource> pools() {
        return Stream.of(dataSource, engineDataSource)
                .filter(PooledDataSource.class::isInstance)
                .map(PooledDataSource.class::cast);
    }

    @Override
    public void close() {
        Shielded.closeAll(sweeper, looks, onClose::run, requests);
    }
}
