package io.syncguard.redis;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Locks in Redis. Each operation runs one script of {@code syncguard/redis}: one round trip, and one step that nobody comes
 * between.
 */
public final class RedisLockBackend implements LockBackend {

    private static final RedisScript CLAIM = RedisScript.named("claim");
    private static final RedisScript KEEP = RedisScript.named("keep");
    private static final RedisScript EXTEND = RedisScript.named("extend");
    private static final RedisScript ROTATE = RedisScript.named("rotate");
    private static final RedisScript RELEASE = RedisScript.named("release");
    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");
    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");
    private static final RedisScript IS_LOCKED = RedisScript.named("is_locked");
    private static final RedisScript LOOKUP = RedisScript.named("lookup");

    private final RedisConnections connections;
    private final RedisScripts scripts;
    private final RedisKeys keys;
    private final RedisFences fences = new RedisFences();
    private final RedisSettings settings;
    private final Time time;

    /** Set before the first claim. */
    private volatile @Nullable RedisWakeUps wakeUps;

    /**
     * @param application says where the server is; the connections are our own
     * @param settings names and times
     */
    public RedisLockBackend(LettuceConnectionFactory application, RedisSettings settings) {
        this(new RedisConnections(application, settings), settings, Time.SYSTEM);
    }

    RedisLockBackend(RedisConnections connections, RedisSettings settings, Time time) {
        this.connections = connections;
        this.settings = settings;
        this.keys = settings.keys();
        this.scripts = new RedisScripts(connections, keys.start(), settings.timeout(), time);
        this.time = time;
    }

    /** Warns where the server throws locks or fence counters away when its memory is full. One round trip. */
    public void warnOfEviction() {
        RedisEviction.warnOf(connections);
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public AcquireResult acquire(AcquireRequest claim) {
        long known = fences.known(claim.key());
        AcquireResult attempt = scripts.run(
                "acquiring lock '" + claim.key() + "'",
                claim.ttl(),
                CLAIM,
                arguments(claim),
                reply -> readAttempt(reply, claim));
        if (attempt instanceof AcquireResult.Queued && wakeUps != null) {
            wakeUps.start();
        } else if (attempt instanceof AcquireResult.Granted grant) {
            fences.granted(claim.key(), grant.fence(), known);
        }
        return attempt;
    }

    private List<String> arguments(AcquireRequest claim) {
        Long waiter = claim.waiter();
        RedisWakeUps heard = wakeUps;
        String waiterTtl = String.valueOf(settings.waiterTtl().toMillis());
        return List.of(
                keys.name(claim.key()),
                claim.mode().name(),
                claim.lockId(),
                String.valueOf(claim.ttl().toMillis()),
                claim.key(),
                claim.owner(),
                waiter == null ? "" : waiterTtl,
                heard == null || !claim.handOver() ? "" : waiterTtl,
                waiter == null ? "" : String.valueOf(waiter),
                heard == null ? "" : heard.channel(),
                heard == null || waiter == null ? "" : heard.secretOf(waiter));
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        List<String> arguments = new ArrayList<>();
        arguments.add(String.valueOf(settings.waiterTtl().toMillis()));
        arguments.addAll(lockIds);
        return scripts.run(
                "keeping " + lockIds.size() + " place(s) in the queue",
                settings.waiterTtl(),
                KEEP,
                arguments,
                reply -> reply.numbers(lockIds.size()).stream()
                        .map(Duration::ofMillis)
                        .toList());
    }

    @Override
    public Duration waiterTtl() {
        return settings.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener engine) {
        wakeUps = new RedisWakeUps(keys.of("wake", UUID.randomUUID().toString()), connections, engine, time);
    }

    @Override
    public boolean isConnected() {
        RedisWakeUps current = wakeUps;
        return current != null && current.isConnected();
    }

    @Override
    public ReleaseResult release(String lockId) {
        return scripts.run("releasing a lock", RELEASE, List.of(lockId), reply -> readRelease(reply.text(0)));
    }

    @Override
    public List<ReleaseResult> releaseAll(List<String> lockIds) {
        return scripts.run(
                "releasing " + lockIds.size() + " lock(s)",
                RELEASE_ALL,
                lockIds,
                reply -> reply.texts(lockIds.size()).stream()
                        .map(RedisLockBackend::readRelease)
                        .toList());
    }

    @Override
    public ReleaseResult releaseAfter(String lockId, Duration held) {
        return scripts.run(
                "releasing a lock",
                RELEASE_AFTER,
                List.of(lockId, String.valueOf(held.toMillis())),
                reply -> readRelease(reply.text(0)));
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        List<String> arguments = new ArrayList<>();
        for (ExtendRequest extension : extensions) {
            arguments.add(extension.lockId());
            arguments.add(String.valueOf(extension.ttl().toMillis()));
        }
        Duration shortest = extensions.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return scripts.run(
                "extending " + extensions.size() + " lock(s)",
                shortest,
                EXTEND,
                arguments,
                reply -> reply.numbers(extensions.size()).stream()
                        .map(RedisLockBackend::readOutcome)
                        .toList());
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend(List.of(extension)).get(0);
    }

    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        return scripts.run(
                "taking the next fence for a lock",
                extension.ttl(),
                ROTATE,
                List.of(extension.lockId(), String.valueOf(extension.ttl().toMillis())),
                RedisLockBackend::readRotation);
    }

    @Override
    public boolean isLocked(String key) {
        return scripts.run(
                "looking at lock '" + key + "'", IS_LOCKED, List.of(keys.name(key)), reply -> reply.number(0) == 1);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return scripts.run(
                "looking up lock '" + key + "'", LOOKUP, List.of(keys.name(key)), RedisLockBackend::readInfos);
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return scripts
                .run("looking up a lock by its id", LOOKUP, List.of("", lockId), RedisLockBackend::readInfos)
                .stream()
                .findFirst();
    }

    /**
     * What was sent on a connection is done in the order in which it was sent; the rest is for one that was lost: two timeouts
     * until its silence is noticed, a pause and one for the next connection, and one for the release.
     */
    @Override
    public Duration inDoubtPeriod() {
        return settings.timeout().multipliedBy(4).plus(RedisDriver.LONGEST_PAUSE);
    }

    @Override
    public void close() {
        if (wakeUps != null) {
            wakeUps.close();
        }
        connections.close();
    }

    private static AcquireResult readAttempt(RedisReply reply, AcquireRequest claim) {
        return switch (reply.text(0)) {
            case "granted" ->
                new AcquireResult.Granted(
                        new Fence(reply.number(1)),
                        Instant.ofEpochMilli(reply.number(2)),
                        Instant.ofEpochMilli(reply.number(3)));
            case "refused" -> new AcquireResult.Refused(Duration.ofMillis(reply.number(1)), readHolder(reply));
            case "queued" -> new AcquireResult.Queued(Duration.ofMillis(reply.number(1)), readHolder(reply));
            case "no_fences" ->
                throw new LockBackendException(
                        LockErrorCode.INTERNAL,
                        "Lock '" + claim.key() + "' has no fences left: its counter is at " + Fence.MAX_VALUE
                                + ". Use another key",
                        null);
            default -> throw new IllegalStateException("An unknown answer to a claim");
        };
    }

    private static AcquireResult.@Nullable Holder readHolder(RedisReply reply) {
        return reply.items().size() == 2
                ? null
                : new AcquireResult.Holder(reply.text(2), Instant.ofEpochMilli(reply.number(3)), reply.number(4) == 0);
    }

    private static ReleaseResult readRelease(String answer) {
        return switch (answer) {
            case "released" -> ReleaseResult.RELEASED;
            case "left" -> ReleaseResult.LEFT;
            case "expired" -> ReleaseResult.EXPIRED;
            case "not_found" -> ReleaseResult.NOT_FOUND;
            default -> throw new IllegalStateException("An unknown answer to a release");
        };
    }

    private static ExtendResult readOutcome(long answer) {
        if (answer > 0) {
            return new ExtendResult.Extended(Instant.ofEpochMilli(answer));
        }
        return answer == 0 ? new ExtendResult.Expired() : new ExtendResult.NotFound();
    }

    private static ExtendResult readRotation(RedisReply reply) {
        return switch (reply.text(0)) {
            case "rotated" ->
                new ExtendResult.Rotated(Instant.ofEpochMilli(reply.number(1)), new Fence(reply.number(2)));
            case "expired" -> new ExtendResult.Expired();
            case "not_found" -> new ExtendResult.NotFound();
            case "no_fences" ->
                throw new LockBackendException(
                        LockErrorCode.INTERNAL,
                        "Its key has no fences left: the counter is at " + Fence.MAX_VALUE + ". Use another key",
                        null);
            default -> throw new IllegalStateException("An unknown answer to a rotation");
        };
    }

    private static List<RawLockInfo> readInfos(RedisReply reply) {
        return reply.replies().stream()
                .map(lease -> new RawLockInfo(
                        lease.text(5),
                        lease.text(0),
                        LockMode.valueOf(lease.text(1)),
                        Instant.ofEpochMilli(Long.parseLong(lease.text(3))),
                        Instant.ofEpochMilli(Long.parseLong(lease.text(2))),
                        new Fence(Long.parseLong(lease.text(4))),
                        lease.text(6)))
                .sorted(Comparator.comparing(RawLockInfo::fence))
                .toList();
    }
}
