package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.util.List;

/** Ends leases and deletes queue entries, without hand-overs. */
final class RedisReleases implements RedisShardedRequests.Kind<KeyedLockId, ReleaseResult> {

    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");

    private final RedisRequests requests;

    RedisReleases(RedisRequests requests) {
        this.requests = requests;
    }

    @Override
    public KeyedLockId idOf(KeyedLockId item) {
        return item;
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<KeyedLockId> items) {
        List<String> lockIds = items.stream().map(KeyedLockId::lockId).toList();
        return requests.ofLockIds("releasing " + items.size() + " lock(s)", RELEASE_ALL, locks, lockIds, lockIds);
    }

    @Override
    public ReleaseResult read(RedisReply reply, int index) {
        return RedisReplyReader.readRelease(reply.answer(index));
    }

    @Override
    public ReleaseResult notFound() {
        return ReleaseResult.NOT_FOUND;
    }

    /** The engine repeats all releases, which does not harm those that succeeded. */
    @Override
    public ReleaseResult failed(LockBackendException error) {
        throw error;
    }
}
