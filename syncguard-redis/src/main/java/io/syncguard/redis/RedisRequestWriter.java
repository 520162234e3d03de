package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.WakeUpSubscriber;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the requests of the scripts. The first argument of each is the retention of a fence counter. */
final class RedisRequestWriter {

    private static final RedisScript ACQUIRE = RedisScript.named("acquire");
    private static final RedisScript TOGETHER = RedisScript.named("together");
    private static final RedisScript RELEASE = RedisScript.named("release");
    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");
    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");
    private static final RedisScript EXTEND = RedisScript.named("extend");
    private static final RedisScript ROTATE = RedisScript.named("rotate");
    private static final RedisScript RENEW_WAITERS = RedisScript.named("renew_waiters");

    private final RedisLocks locks;
    private final Duration waiterTtl;

    /** Where this process receives wake-ups. */
    private final String channel;

    /** Retention of an idle counter in milliseconds; empty to keep it for ever. */
    private final String retention;

    RedisRequestWriter(RedisSettings settings, RedisLocks locks, String channel) {
        this.locks = locks;
        this.waiterTtl = settings.waiterTtl();
        this.channel = channel;
        this.retention = settings.fences().source() == FenceSource.CLOCK
                ? millis(settings.fences().retention())
                : "";
    }

    /**
     * @param wakeUps {@code null} if no hand-overs can be received
     * @throws LockBackendException if the lock id does not lead to the shard of the key
     */
    RedisRequest acquire(AcquireRequest request, @Nullable WakeUpSubscriber wakeUps) {
        RedisLock lock = locks.of(request.key());
        if (!locks.isFor(request.lockId(), lock)) {
            throw new LockBackendException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The lock id does not fit lock '" + request.key() + "'. Create it with LockBackend.lockIdFor",
                    null);
        }
        AcquireOptions options = request.options();
        long ttl = options.ttl().toMillis();
        RedisArguments arguments = new RedisArguments();
        arguments.add(retention(ttl));
        arguments.add(request.lockId());
        arguments.add(options.mode().name() + (options.permits() == 0 ? "" : options.permits()));
        arguments.add(ttl + LockBackend.TOLERANCE_MILLIS);
        arguments.add(lock.label(options.owner()));
        arguments.add(request.key());
        Long waiter = request.waiterNumber();
        arguments.add(
                waiter == null
                        ? ""
                        : waiter(waiter, options.handOver() && wakeUps != null ? wakeUps.secretOf(waiter) : "-"));
        return new RedisRequest(
                "acquiring lock '" + request.key() + "'",
                ACQUIRE,
                lock.shard(),
                lock.keys(request.lockId()),
                arguments);
    }

    /** @param asked the requests of one caller for keys of one shard, without waiters */
    RedisRequest acquireTogether(List<AcquireRequest> asked, GrantExtent extent) {
        return RedisRequest.joined(
                "acquiring lock '" + asked.get(0).key() + "' and others",
                TOGETHER,
                extent.name(),
                asked.stream().map(request -> acquire(request, null)).toList());
    }

    /** @param receivesHandOvers whether the answer may hand the key over to waiters of this process */
    RedisRequest release(RedisLock lock, String lockId, boolean receivesHandOvers) {
        return ofLockId("releasing a lock", RELEASE, lock, lockId, receivesHandOvers ? channel : "");
    }

    RedisRequest releaseAfter(RedisLock lock, String lockId, Duration held) {
        return ofLockId("releasing a lock", RELEASE_AFTER, lock, lockId, millis(held));
    }

    /** Writes the release of many locks, which hands none over. */
    RedisRequest releaseAll(List<RedisLock> locks, List<String> lockIds) {
        return ofLockIds("releasing " + locks.size() + " lock(s)", RELEASE_ALL, locks, lockIds, lockIds);
    }

    RedisRequest extendAll(List<RedisLock> locks, List<ExtendRequest> asked) {
        List<String> lockIds = asked.stream().map(each -> each.id().lockId()).toList();
        List<String> arguments = new ArrayList<>();
        asked.forEach(each -> arguments.addAll(List.of(each.id().lockId(), millis(each.ttl()))));
        return ofLockIds("extending " + locks.size() + " lock(s)", EXTEND, locks, lockIds, arguments);
    }

    /** Extends a lease that also gets the next fence of its key. */
    RedisRequest rotate(RedisLock lock, ExtendRequest asked) {
        return ofLockId(
                "taking the next fence for a lock", ROTATE, lock, asked.id().lockId(), millis(asked.ttl()));
    }

    RedisRequest renewAll(List<RedisLock> locks, List<String> lockIds) {
        List<String> arguments = new ArrayList<>();
        arguments.add(millis(waiterTtl));
        arguments.addAll(lockIds);
        return ofLockIds("renewing " + locks.size() + " queue entries", RENEW_WAITERS, locks, lockIds, arguments);
    }

    /** Writes a request for a whole lock. */
    RedisRequest ofLock(String description, RedisScript script, RedisLock lock, String... arguments) {
        return new RedisRequest(description, script, lock.shard(), lock.keys(), with(List.of(arguments)));
    }

    private RedisRequest ofLockId(
            String description, RedisScript script, RedisLock lock, String lockId, String argument) {
        RedisArguments arguments =
                new RedisArguments().add(retention).add(lockId).add(argument);
        return new RedisRequest(description, script, lock.shard(), lock.keys(lockId), arguments);
    }

    /** @param locks the locks of the lock ids, all in one shard */
    private RedisRequest ofLockIds(
            String description,
            RedisScript script,
            List<RedisLock> locks,
            List<String> lockIds,
            List<String> arguments) {
        RedisArguments keys = new RedisArguments();
        for (int i = 0; i < lockIds.size(); i++) {
            keys.addAll(locks.get(i).keys(lockIds.get(i)));
        }
        return new RedisRequest(description, script, locks.get(0).shard(), keys, with(arguments));
    }

    private RedisArguments with(List<String> arguments) {
        RedisArguments all = new RedisArguments().add(retention);
        arguments.forEach(all::add);
        return all;
    }

    /** Retention in milliseconds, from now on, of a counter whose lock has a lease with this ttl. */
    private String retention(long ttlMillis) {
        return retention.isEmpty() || ttlMillis + LockBackend.TOLERANCE_MILLIS <= Long.parseLong(retention)
                ? retention
                : Long.toString(ttlMillis + Long.parseLong(retention));
    }

    /** What a queue entry says of a waiter. Scripts count the channel in bytes. */
    private String waiter(long number, String secret) {
        int length = channel.getBytes(StandardCharsets.UTF_8).length;
        return number + " " + waiterTtl.toMillis() + " " + secret + " " + length + " " + channel;
    }

    private static String millis(Duration time) {
        return Long.toString(time.toMillis());
    }
}
