package io.syncguard.redis;

import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreProbe;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps locks in Redis. Each operation runs one script of {@code syncguard/redis}: one round trip, atomic at the
 * server. Under load, acquire requests and releases of many threads share a script.
 */
public final class RedisLockBackend implements LockBackend {

    private static final Log log = LogFactory.getLog(RedisLockBackend.class);

    private static final RedisScript RIGHTS = RedisScript.named("rights");

    private final RedisConnections connections;
    private final RedisScriptRunner scripts;
    private final RedisShardedRequests sharded;
    private final RedisAsyncRequests async;
    private final RedisCallerRequests callerRequests;
    private final RedisAcquireRequests acquireRequests;
    private final RedisExtensions extensions;
    private final RedisReleases releases;
    private final RedisCallerReleases callerReleases;
    private final RedisRenewals renewals;
    private final RedisLeaseRequests leases;
    private final RedisLookups lookups;
    private final RedisList list;
    private final RedisRequest rights;
    private final RedisKeySpace keys;
    private final RedisShards shards;
    private final RedisFenceMonitor fences = new RedisFenceMonitor();
    private final Duration timeout;
    private final Duration waiterTtl;
    private final Time time;

    /** The channel for the wake-ups of this process. */
    private final String channel;

    /** Set before the first request. */
    private volatile @Nullable WakeUpSubscriber wakeUps;

    /** Makes the next subscriber, after a stop of the engine. */
    private Runnable subscribing = () -> {};

    /**
     * @param application provides the connection details; the backend opens separate connections
     * @param settings prefix and times
     */
    public RedisLockBackend(LettuceConnectionFactory application, RedisSettings settings) {
        this(application, settings, "");
    }

    /**
     * Creates a backend whose connections have a name.
     *
     * @param applicationName part of the name of the connections, unless the factory names its own
     */
    public RedisLockBackend(LettuceConnectionFactory application, RedisSettings settings, String applicationName) {
        this(() -> application, settings, applicationName);
    }

    /**
     * Creates a backend for an application that may replace its factory. User and password follow it; server and TLS
     * stay those of the first.
     *
     * @param applications returns the factory that the application has at that moment, for each connection
     */
    public RedisLockBackend(
            Supplier<LettuceConnectionFactory> applications, RedisSettings settings, String applicationName) {
        this(
                new RedisConnections(new RedisApplication(applications), settings, applicationName),
                settings,
                Time.SYSTEM);
    }

    RedisLockBackend(RedisConnections connections, RedisSettings settings, Time time) {
        this(connections, settings, time, RedisCallerRequests.CALLERS);
    }

    /** @param callers number of callers up to which each sends its own script */
    RedisLockBackend(RedisConnections connections, RedisSettings settings, Time time, int callers) {
        this.connections = connections;
        this.keys = settings.keys();
        this.timeout = settings.timeout();
        this.waiterTtl = settings.waiterTtl();
        this.shards = settings.spread();
        this.scripts = new RedisScriptRunner(connections, settings, time);
        RedisRequests requests = new RedisRequests(settings);
        RedisLocks locks = new RedisLocks(keys, shards);
        RedisLockIds lockIds = new RedisLockIds(scripts, locks);
        this.sharded = new RedisShardedRequests(scripts, lockIds);
        this.async = new RedisAsyncRequests(scripts, locks, lockIds, connections.timer());
        this.callerRequests = new RedisCallerRequests(scripts, shards, callers);
        this.acquireRequests = new RedisAcquireRequests(requests, locks, waiterTtl);
        this.extensions = new RedisExtensions(requests);
        this.releases = new RedisReleases(requests);
        this.callerReleases = new RedisCallerReleases(requests, this::ownChannel);
        this.renewals = new RedisRenewals(requests, waiterTtl);
        this.leases = new RedisLeaseRequests(scripts, callerRequests, requests, locks, lockIds);
        this.lookups = new RedisLookups(scripts, requests, locks, lockIds);
        this.list = new RedisList(scripts, requests, locks, shards, new RedisPace(time));
        this.rights = requests.ofLock("checking the rights", RIGHTS, locks.of(StoreProbe.KEY));
        this.time = time;
        this.channel = keys.key("wake", UUID.randomUUID().toString());
    }

    /**
     * Checks the number of shards, the version of the server and the rights of its user, and warns if it deletes locks
     * or fence counters when its memory is full. If the server is unavailable, the first lock operation checks the
     * number of shards. Takes a few round trips.
     *
     * @throws io.syncguard.LockException if the server refuses locks for a reason that no retry changes
     */
    public void checkServer() {
        try {
            scripts.connectAtStart();
            RedisServerCheck.check(connections);
            StoreProbe.run(this);
            scripts.run(rights, RedisReply::size);
        } catch (LockBackendException ex) {
            if (RedisErrors.isPermanent(ex)) {
                throw RedisStartFailure.of(keys.prefix(), ex);
            }
            log.warn("Lock operations fail for now: " + RedisErrors.explain(connections.server(), ex));
            log.debug("Redis could not be checked at the start", ex);
        }
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public String lockIdFor(String key, String random) {
        return shards.lockIdIn(shards.ofName(keys.name(key)), random);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        RedisRequest attempt = acquireRequests.of(request, channel, wakeUps);
        long lastFence = fences.lastFence(request.key());
        AcquireResult result = callerRequests.run(attempt, scripts.limit(request.ttl()), reply -> {
            AcquireResult answer = RedisReplyReader.readAcquire(reply, request.key());
            if (answer instanceof AcquireResult.Granted grant && !RedisReplyReader.isGrantedAgain(reply)) {
                fences.granted(request.key(), grant.fence(), lastFence);
            }
            return answer;
        });
        if (result instanceof AcquireResult.Queued) {
            somebodyWaits();
        }
        return result;
    }

    private void somebodyWaits() {
        if (wakeUps != null) {
            wakeUps.start();
        }
    }

    @Override
    public List<String> probeKeys(String key) {
        return shards.namesOfAll(key);
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        List<Long> lastFences = requests.stream()
                .map(request -> fences.lastFence(request.key()))
                .toList();
        Duration shortest = requests.stream()
                .map(AcquireRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        return scripts.run(acquireRequests.together(requests, extent), shortest, reply -> {
            JointResult result = RedisReplyReader.readTogether(reply, requests);
            for (int i = 0; i < result.grants().size(); i++) {
                if (!RedisReplyReader.isGrantedAgain(reply.answer(i + 2))) {
                    fences.granted(requests.get(i).key(), result.grants().get(i).fence(), lastFences.get(i));
                }
            }
            return result;
        });
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        somebodyWaits();
        return sharded.run(renewals, ids, scripts.limit(waiterTtl));
    }

    @Override
    public Duration waiterTtl() {
        return waiterTtl;
    }

    @Override
    public void connect(WakeUpListener listener) {
        subscribing = () -> wakeUps = new WakeUpSubscriber(
                "Redis", channel, new RedisSubscription(channel, connections, scripts, shards), listener, time);
        subscribing.run();
    }

    @Override
    public boolean isConnected() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isConnected();
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return leases.release(id, ownChannel());
    }

    /** Returns an empty text without wake-ups: then nothing handles a hand-over in the answer to a release. */
    private String ownChannel() {
        return wakeUps == null ? "" : channel;
    }

    @Override
    public List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        return sharded.run(callerReleases, ids, scripts.limit());
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return sharded.run(releases, ids, scripts.limit());
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return leases.releaseAfter(id, held);
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> requests) {
        return sharded.run(extensions, requests, extensionLimit(requests));
    }

    @Override
    public int serverOf(String lockId) {
        return async.shardOf(lockId);
    }

    @Override
    public CompletionStage<List<ExtendResult>> extendLater(List<ExtendRequest> requests) {
        return async.send(extensions, requests, extensionLimit(requests));
    }

    @Override
    public CompletionStage<List<ReleaseResult>> releaseAllLater(List<KeyedLockId> ids) {
        return async.send(releases, ids, scripts.limit());
    }

    @Override
    public CompletionStage<ReleaseResult> releaseAfterLater(KeyedLockId id, Duration held) {
        return async.locksOf(List.of(id), scripts.limit()).thenCompose(locks -> {
            RedisLock lock = locks.get(0);
            return lock == null
                    ? CompletableFuture.completedFuture(ReleaseResult.NOT_FOUND)
                    : async.send(
                            leases.releaseAfter(lock, id.lockId(), held),
                            scripts.limit(),
                            RedisReplyReader::readRelease);
        });
    }

    @Override
    public CompletionStage<List<Duration>> renewWaitersLater(List<KeyedLockId> ids) {
        somebodyWaits();
        return async.send(renewals, ids, scripts.limit(waiterTtl));
    }

    private long extensionLimit(List<ExtendRequest> requests) {
        return scripts.limit(requests.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO));
    }

    @Override
    public ExtendResult extend(ExtendRequest request) {
        return extend(List.of(request)).get(0);
    }

    @Override
    public ExtendResult rotate(ExtendRequest request) {
        return leases.rotate(request);
    }

    @Override
    public boolean isLocked(String key) {
        return lookups.isLocked(key);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return lookups.lookup(key);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return lookups.lookupById(id);
    }

    @Override
    public LockPage list(LockQuery query) {
        return list.list(query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return list.status(key);
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return leases.forceRelease(key);
    }

    /**
     * The server runs the requests of one connection in order, so a release on the same connection needs no wait,
     * unless it overtakes a batch that another thread is about to send. The period covers a lost connection: two
     * timeouts until it is detected, a pause and a timeout for the next connection, and one timeout for the release.
     */
    @Override
    public Duration inDoubtPeriod() {
        return timeout.multipliedBy(4).plus(RedisDriver.LONGEST_PAUSE);
    }

    @Override
    public void disconnect() {
        WakeUpSubscriber current = wakeUps;
        if (current != null) {
            Shielded.closeAll(current);
            subscribing.run();
        }
        connections.disconnect();
    }

    @Override
    public void reconnect() {
        connections.reconnect();
    }

    @Override
    public void close() {
        if (wakeUps != null) {
            Shielded.closeAll(wakeUps);
        }
        Shielded.closeAll(connections);
    }
}
