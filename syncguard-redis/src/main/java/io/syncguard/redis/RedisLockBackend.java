package io.syncguard.redis;

import io.syncguard.BackendInfo;
import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Batching;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreInfo;
import io.syncguard.spi.StoreProbe;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
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
    private final RedisLocks locks;
    private final RedisAcquirer acquirer;
    private final RedisLeases leases;
    private final RedisDirectory directory;
    private final RedisRequest rights;
    private final RedisKeySpace keys;
    private final RedisShards shards;
    private final StoreInfo info;
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
        this(connections, settings, time, RedisBatcher.CALLERS);
    }

    /** @param callers number of callers up to which each sends its own script */
    RedisLockBackend(RedisConnections connections, RedisSettings settings, Time time, int callers) {
        this.connections = connections;
        this.keys = settings.keys();
        this.shards = settings.spread();
        this.info = infoOf(settings);
        this.time = time;
        this.channel = keys.key("wake", UUID.randomUUID().toString());
        this.scripts = new RedisScriptRunner(connections, settings, time);
        this.locks = new RedisLocks(keys, shards);
        RedisRequestWriter requests = new RedisRequestWriter(settings, locks, channel);
        RedisLockIds lockIds = new RedisLockIds(scripts, locks);
        RedisBatcher batcher = new RedisBatcher(scripts, shards, callers);
        this.acquirer = new RedisAcquirer(scripts, batcher, requests, () -> wakeUps);
        this.leases = new RedisLeases(
                scripts, batcher, requests, locks, lockIds, settings.waiterTtl(), () -> wakeUps != null);
        this.directory = new RedisDirectory(
                scripts,
                requests,
                locks,
                lockIds,
                new RedisList(scripts, requests, locks, shards, new RedisPace(time)));
        this.rights = requests.ofLock("checking the rights", RIGHTS, locks.of(StoreProbe.KEY));
    }

    /**
     * The server runs the requests of one connection in order, so a release on the same connection needs no wait,
     * unless it overtakes a batch that another thread is about to send. The in-doubt period covers a lost connection:
     * two timeouts until it is detected, a pause and a timeout for the next connection, and one timeout for the
     * release.
     */
    private static StoreInfo infoOf(RedisSettings settings) {
        return new StoreInfo(
                new BackendInfo("redis", true, BackendInfo.Clock.SERVER),
                settings.timeout(),
                settings.waiterTtl(),
                settings.timeout().multipliedBy(4).plus(RedisDriver.LONGEST_PAUSE),
                settings.spread().all().size(),
                Batching.NONE);
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
            if (connections.isCluster() && shards.all().size() > 1) {
                RedisServerCheck.checkCoverage(connections);
            }
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
    public StoreInfo info() {
        return info;
    }

    @Override
    public String lockIdFor(String key, String random) {
        return shards.lockIdIn(shards.ofName(keys.name(key)), random);
    }

    @Override
    public int serverOf(String lockId) {
        RedisShard shard = locks.shardOf(lockId);
        return shard == null ? -1 : shard.number();
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return acquirer.acquire(requests, extent);
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return leases.release(requests);
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return leases.extend(requests);
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        acquirer.somebodyWaits();
        return leases.renew(entries);
    }

    @Override
    public BooleanSupplier connect(WakeUpListener listener) {
        subscribing = () -> wakeUps = new WakeUpSubscriber(
                "Redis", channel, new RedisSubscription(channel, connections, scripts, shards), listener, time);
        subscribing.run();
        return this::isConnected;
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
