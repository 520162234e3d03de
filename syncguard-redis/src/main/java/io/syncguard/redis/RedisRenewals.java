package io.syncguard.redis;

import io.syncguard.LockBackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Renews queue entries. */
final class RedisRenewals implements RedisShardedRequests.Kind<String, Duration> {

    private static final RedisScript RENEW_WAITERS = RedisScript.named("renew_waiters");

    private final Duration waiterTtl;

    RedisRenewals(Duration waiterTtl) {
        this.waiterTtl = waiterTtl;
    }

    @Override
    public String lockId(String item) {
        return item;
    }

    @Override
    public RedisRequest request(RedisShard shard, List<String> items) {
        List<String> arguments = new ArrayList<>();
        arguments.add(Long.toString(waiterTtl.toMillis()));
        arguments.addAll(items);
        return new RedisRequest("renewing " + items.size() + " queue entries", RENEW_WAITERS, shard, arguments);
    }

    @Override
    public Duration read(RedisReply reply, int index) {
        return Duration.ofMillis(reply.number(index));
    }

    @Override
    public Duration notFound() {
        return Duration.ZERO;
    }

    /** The waiter sends its next request at once, and gets the error if the server has not recovered. */
    @Override
    public Duration failed(LockBackendException error) {
        return Duration.ZERO;
    }
}
