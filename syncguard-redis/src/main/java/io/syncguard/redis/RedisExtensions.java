package io.syncguard.redis;

import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.List;

/** Extends leases. */
final class RedisExtensions implements RedisLockIdRequests.Kind<ExtendRequest, ExtendResult> {

    private static final RedisScript EXTEND = RedisScript.named("extend");

    private final RedisRequests requests;

    RedisExtensions(RedisRequests requests) {
        this.requests = requests;
    }

    @Override
    public KeyedLockId idOf(ExtendRequest item) {
        return new KeyedLockId(item.key(), item.lockId());
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<ExtendRequest> items) {
        List<String> arguments = new ArrayList<>();
        for (ExtendRequest item : items) {
            arguments.add(item.lockId());
            arguments.add(Long.toString(item.ttl().toMillis()));
        }
        return requests.ofLockIds(
                "extending " + items.size() + " lock(s)",
                EXTEND,
                locks,
                items.stream().map(ExtendRequest::lockId).toList(),
                arguments);
    }

    @Override
    public List<ExtendResult> read(RedisReply reply, int size) {
        return reply.answers(size, i -> RedisReplyReader.readExtension(reply, i));
    }

    @Override
    public ExtendResult notFound() {
        return new ExtendResult.NotFound();
    }
}
