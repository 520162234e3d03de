package io.syncguard.redis;

import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Locks in Redis. Each operation runs one script of {@code syncguard/redis}: one round trip, and atomic at the server.
 */
public final class RedisLockBackend implements LockBackend {

    private static final RedisScript ACQUIRE = RedisScript.named("acquire");
    private static final RedisScript RENEW_WAITERS = RedisScript.named("renew_waiters");
    private static final RedisScript EXTEND = RedisScript.named("extend");
    private static final RedisScript ROTATE = RedisScript.named("rotate");
    private static final RedisScript RELEASE = RedisScript.named("release");
    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");
    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");
    private static final RedisScript IS_LOCKED = RedisScript.named("is_locked");
    private static final RedisScript LOOKUP = RedisScript.named("lookup");

    private final RedisConnections connections;
    private final RedisScriptRunner scripts;
    private final RedisKeySpace keys;
    private final RedisFenceMonitor fences = new RedisFenceMonitor();
    private final Duration timeout;
    private final Duration waiterTtl;
    private final Time time;

    /** The channel for the wake-ups of this process. */
    private final String channel;

    /** Set before the first request. */
    private volatile @Nullable WakeUpSubscriber wakeUps;

    /**
     * @param application has the connection details; the backend opens separate connections
     * @param settings prefix and times
     */
    public RedisLockBackend(LettuceConnectionFactory application, RedisSettings settings) {
        this(new RedisConnections(application, settings), settings, Time.SYSTEM);
    }

    RedisLockBackend(RedisConnections connections, RedisSettings settings, Time time) {
        this.connections = connections;
        this.keys = settings.keys();
        this.timeout = settings.timeout();
        this.waiterTtl = settings.waiterTtl();
        this.scripts = new RedisScriptRunner(connections, keys.prefix(), timeout, time);
        this.time = time;
        this.channel = keys.key("wake", UUID.randomUUID().toString());
    }

    /** Warns if the server deletes locks or fence counters when its memory is full. One round trip. */
    public void warnOfEviction() {
        RedisEviction.warnOf(connections);
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        long lastFence = fences.lastFence(request.key());
        AcquireResult result = scripts.run(
                new RedisRequest("acquiring lock '" + request.key() + "'", ACQUIRE, arguments(request)),
                request.ttl(),
                reply -> RedisReplyReader.readAcquire(reply, request.key()));
        if (result instanceof AcquireResult.Queued && wakeUps != null) {
            wakeUps.start();
        } else if (result instanceof AcquireResult.Granted grant) {
            fences.granted(request.key(), grant.fence(), lastFence);
        }
        return result;
    }

    private List<String> arguments(AcquireRequest request) {
        List<String> arguments = new ArrayList<>(List.of(
                keys.name(request.key()),
                request.mode().name(),
                request.lockId(),
                millis(request.ttl()),
                request.key(),
                request.owner()));
        Long waiter = request.waiter();
        WakeUpSubscriber listener = wakeUps;
        if (waiter == null) {
            arguments.add("TRY");
        } else if (request.handOver() && listener != null) {
            arguments.addAll(
                    List.of("HAND_OVER", millis(waiterTtl), waiter.toString(), channel, listener.secretOf(waiter)));
        } else {
            arguments.addAll(List.of("WAIT", millis(waiterTtl), waiter.toString(), channel));
        }
        return arguments;
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        List<String> arguments = new ArrayList<>();
        arguments.add(millis(waiterTtl));
        arguments.addAll(lockIds);
        return scripts.run(
                new RedisRequest("renewing " + lockIds.size() + " queue entries", RENEW_WAITERS, arguments),
                waiterTtl,
                reply -> reply.answers(lockIds.size(), i -> Duration.ofMillis(reply.number(i))));
    }

    @Override
    public Duration waiterTtl() {
        return waiterTtl;
    }

    @Override
    public void connect(WakeUpListener listener) {
        wakeUps = new WakeUpSubscriber("Redis", channel, new RedisSubscription(channel, connections), listener, time);
    }

    @Override
    public boolean isConnected() {
        WakeUpSubscriber current = wakeUps;
        return current != null && current.isConnected();
    }

    @Override
    public ReleaseResult release(String lockId) {
        return scripts.run(
                new RedisRequest("releasing a lock", RELEASE, List.of(lockId)),
                reply -> RedisReplyReader.readRelease(reply, 0));
    }

    @Override
    public List<ReleaseResult> releaseAll(List<String> lockIds) {
        return scripts.run(
                new RedisRequest("releasing " + lockIds.size() + " lock(s)", RELEASE_ALL, lockIds),
                reply -> reply.answers(lockIds.size(), i -> RedisReplyReader.readRelease(reply, i)));
    }

    @Override
    public ReleaseResult releaseAfter(String lockId, Duration held) {
        return scripts.run(
                new RedisRequest("releasing a lock", RELEASE_AFTER, List.of(lockId, millis(held))),
                reply -> RedisReplyReader.readRelease(reply, 0));
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> requests) {
        List<String> arguments = new ArrayList<>();
        for (ExtendRequest request : requests) {
            arguments.add(request.lockId());
            arguments.add(millis(request.ttl()));
        }
        Duration shortest = requests.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return scripts.run(
                new RedisRequest("extending " + requests.size() + " lock(s)", EXTEND, arguments),
                shortest,
                reply -> reply.answers(requests.size(), i -> RedisReplyReader.readExtension(reply, i)));
    }

    @Override
    public ExtendResult extend(ExtendRequest request) {
        return extend(List.of(request)).get(0);
    }

    @Override
    public ExtendResult rotate(ExtendRequest request) {
        return scripts.run(
                new RedisRequest(
                        "taking the next fence for a lock", ROTATE, List.of(request.lockId(), millis(request.ttl()))),
                request.ttl(),
                RedisReplyReader::readRotation);
    }

    @Override
    public boolean isLocked(String key) {
        return scripts.run(
                new RedisRequest("looking at lock '" + key + "'", IS_LOCKED, List.of(keys.name(key))),
                reply -> reply.number(0) == 1);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return scripts.run(
                new RedisRequest("looking up lock '" + key + "'", LOOKUP, List.of("KEY", keys.name(key))),
                RedisReplyReader::readInfos);
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return scripts
                .run(
                        new RedisRequest("looking up a lock by its id", LOOKUP, List.of("LOCK_ID", lockId)),
                        RedisReplyReader::readInfos)
                .stream()
                .findFirst();
    }

    /**
     * The server runs the requests of one connection in order, so a release on the same connection needs no wait. The
     * period is for a lost connection: two timeouts until the silence is detected, a pause and a timeout for the next
     * connection, and one timeout for the release.
     */
    @Override
    public Duration inDoubtPeriod() {
        return timeout.multipliedBy(4).plus(RedisDriver.LONGEST_PAUSE);
    }

    @Override
    public void close() {
        if (wakeUps != null) {
            wakeUps.close();
        }
        connections.close();
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
