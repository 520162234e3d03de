package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Renews queue entries. */
final class RedisRenewals implements RedisLockIdRequests.Kind<KeyedLockId, Duration> {

    private static final RedisScript RENEW_WAITERS = RedisScript.named("renew_waiters");

    private final RedisRequests requests;
    private final Duration waiterTtl;

    RedisRenewals(RedisRequests requests, Duration waiterTtl) {
        this.requests = requests;
        this.waiterTtl = waiterTtl;
    }

    @Override
    public KeyedLockId idOf(KeyedLockId item) {
        return item;
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<KeyedLockId> items) {
        List<String> lockIds = items.stream().map(KeyedLockId::lockId).toList();
        List<String> arguments = new ArrayList<>();
        arguments.add(Long.toString(waiterTtl.toMillis()));
        arguments.addAll(lockIds);
        return requests.ofLockIds(
                "renewing " + items.size() + " queue entries", RENEW_WAITERS, locks, lockIds, arguments);
    }

    @Override
    public List<Duration> read(RedisReply reply, int size) {
        return reply.answers(size, i -> Duration.ofMillis(reply.number(i)));
    }

    @Override
    public Duration notFound() {
        return Duration.ZERO;
    }
}
