package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.ReleaseResult;
import java.util.List;

/** Ends leases and deletes queue entries, without hand-overs. */
final class RedisReleases implements RedisShardedRequests.Kind<String, ReleaseResult> {

    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");

    @Override
    public String lockId(String item) {
        return item;
    }

    @Override
    public RedisRequest request(RedisShard shard, List<String> items) {
        return new RedisRequest("releasing " + items.size() + " lock(s)", RELEASE_ALL, shard, items);
    }

    @Override
    public ReleaseResult read(RedisReply reply, int index) {
        return RedisReplyReader.readRelease(reply, index);
    }

    @Override
    public ReleaseResult notFound() {
        return ReleaseResult.NOT_FOUND;
    }

    /** The engine repeats all of them, which does no harm to those that were released. */
    @Override
    public ReleaseResult failed(LockBackendException error) {
        throw error;
    }
}
