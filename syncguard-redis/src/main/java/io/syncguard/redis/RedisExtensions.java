package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.List;

/** Extends leases. */
final class RedisExtensions implements RedisShardedRequests.Kind<ExtendRequest, ExtendResult> {

    private static final RedisScript EXTEND = RedisScript.named("extend");

    private final RedisRequests requests;

    RedisExtensions(RedisRequests requests) {
        this.requests = requests;
    }

    static KeyedLockId id(ExtendRequest request) {
        return new KeyedLockId(request.key(), request.lockId());
    }

    @Override
    public KeyedLockId idOf(ExtendRequest item) {
        return id(item);
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
