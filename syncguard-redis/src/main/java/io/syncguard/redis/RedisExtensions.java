package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.util.ArrayList;
import java.util.List;

/** Extends leases. */
final class RedisExtensions implements RedisShardedRequests.Kind<ExtendRequest, ExtendResult> {

    private static final RedisScript EXTEND = RedisScript.named("extend");

    @Override
    public String lockId(ExtendRequest item) {
        return item.lockId();
    }

    @Override
    public RedisRequest request(RedisShard shard, List<ExtendRequest> items) {
        List<String> arguments = new ArrayList<>();
        for (ExtendRequest item : items) {
            arguments.add(item.lockId());
            arguments.add(Long.toString(item.ttl().toMillis()));
        }
        return new RedisRequest("extending " + items.size() + " lock(s)", EXTEND, shard, arguments);
    }

    @Override
    public ExtendResult read(RedisReply reply, int index) {
        return RedisReplyReader.readExtension(reply, index);
    }

    @Override
    public ExtendResult notFound() {
        return new ExtendResult.NotFound();
    }

    @Override
    public ExtendResult failed(LockBackendException error) {
        return new ExtendResult.Failed(error);
    }
}
