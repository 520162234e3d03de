package io.syncguard.redis;

import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import java.util.List;

/** Extends a lease that also gets the next fence of its key. */
final class RedisRotations implements RedisLockIdRequests.Kind<ExtendRequest, ExtendResult> {

    private static final RedisScript ROTATE = RedisScript.named("rotate");

    private final RedisRequests requests;

    RedisRotations(RedisRequests requests) {
        this.requests = requests;
    }

    @Override
    public KeyedLockId idOf(ExtendRequest item) {
        return new KeyedLockId(item.key(), item.lockId());
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<ExtendRequest> items) {
        ExtendRequest item = items.get(0);
        String ttl = Long.toString(item.ttl().toMillis());
        return requests.ofLockId("taking the next fence for a lock", ROTATE, locks.get(0), item.lockId(), ttl);
    }

    @Override
    public List<ExtendResult> read(RedisReply reply, int size) {
        return List.of(RedisReplyReader.readRotation(reply));
    }

    @Override
    public ExtendResult notFound() {
        return new ExtendResult.NotFound();
    }
}
