package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.WakeUpSubscriber;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the request of an attempt to acquire a key. */
final class RedisAcquireRequests {

    private static final RedisScript ACQUIRE = RedisScript.named("acquire");

    private static final RedisScript TOGETHER = RedisScript.named("together");

    private final RedisRequests requests;
    private final RedisLocks locks;
    private final Duration waiterTtl;

    RedisAcquireRequests(RedisRequests requests, RedisLocks locks, Duration waiterTtl) {
        this.requests = requests;
        this.locks = locks;
        this.waiterTtl = waiterTtl;
    }

    /**
     * Makes the request of one caller for several keys.
     *
     * @param asked for keys of one shard, without waiters
     */
    RedisRequest together(List<AcquireRequest> asked, GrantExtent extent) {
        List<RedisRequest> each =
                asked.stream().map(request -> of(request, "", null)).toList();
        return RedisRequest.joined(
                "acquiring lock '" + asked.get(0).key() + "' and others", TOGETHER, extent.name(), each);
    }

    /**
     * Makes the request.
     *
     * @param wakeUps {@code null} if no hand-overs can be received
     * @throws LockBackendException if the lock id does not lead to the shard of the key
     */
    RedisRequest of(AcquireRequest request, String channel, @Nullable WakeUpSubscriber wakeUps) {
        RedisLock lock = locks.of(request.key());
        if (!locks.isFor(request.lockId(), lock)) {
            throw new LockBackendException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The lock id does not fit lock '" + request.key() + "'. Create it with LockBackend.lockIdFor",
                    null);
        }
        long ttl = request.options().ttl().toMillis();
        RedisArguments arguments = new RedisArguments();
        arguments.add(requests.retention(ttl));
        arguments.add(request.lockId());
        arguments.add(request.options().mode().name()
                + (request.options().permits() == 0 ? "" : request.options().permits()));
        arguments.add(ttl + LockBackend.TOLERANCE_MILLIS);
        arguments.add(lock.label(request.options().owner()));
        arguments.add(request.key());
        Long waiter = request.waiterNumber();
        arguments.add(
                waiter == null
                        ? ""
                        : waiter(
                                waiter,
                                channel,
                                request.options().handOver() && wakeUps != null ? wakeUps.secretOf(waiter) : "-"));
        return new RedisRequest(
                "acquiring lock '" + request.key() + "'",
                ACQUIRE,
                lock.shard(),
                lock.keys(request.lockId()),
                arguments);
    }

    /** What a queue entry says of a waiter. Scripts count the channel in bytes. */
    private String waiter(long number, String channel, String secret) {
        int length = channel.getBytes(StandardCharsets.UTF_8).length;
        return number + " " + waiterTtl.toMillis() + " " + secret + " " + length + " " + channel;
    }
}
