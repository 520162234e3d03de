package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the request of an attempt to acquire a key. */
final class RedisAcquireRequests {

    private static final RedisScript ACQUIRE = RedisScript.named("acquire");

    private final RedisKeySpace keys;
    private final RedisShards shards;
    private final Duration waiterTtl;

    RedisAcquireRequests(RedisKeySpace keys, RedisShards shards, Duration waiterTtl) {
        this.keys = keys;
        this.shards = shards;
        this.waiterTtl = waiterTtl;
    }

    /**
     * Makes the request.
     *
     * @param wakeUps {@code null} if no hand-overs can be received
     * @throws LockBackendException when the lock id would not lead to the shard of the key
     */
    RedisRequest of(AcquireRequest request, String channel, @Nullable WakeUpSubscriber wakeUps) {
        String name = keys.name(request.key());
        RedisShard shard = shards.ofName(name);
        if (shards.ofLockId(request.lockId()) != shard) {
            throw new LockBackendException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The lock id is not one for lock '" + request.key() + "': make it by LockBackend.lockIdFor",
                    null);
        }
        List<String> arguments = new ArrayList<>(List.of(
                name, request.mode().name(), request.lockId(), millis(request.ttl()), request.key(), request.owner()));
        Long waiter = request.waiter();
        if (waiter == null) {
            arguments.add("TRY");
        } else if (request.handOver() && wakeUps != null) {
            arguments.addAll(
                    List.of("HAND_OVER", millis(waiterTtl), waiter.toString(), channel, wakeUps.secretOf(waiter)));
        } else {
            arguments.addAll(List.of("WAIT", millis(waiterTtl), waiter.toString(), channel));
        }
        return new RedisRequest("acquiring lock '" + request.key() + "'", ACQUIRE, shard, arguments);
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
