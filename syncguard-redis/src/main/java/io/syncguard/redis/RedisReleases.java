package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.util.List;

/** Ends leases and deletes queue entries, without hand-overs. */
final class RedisReleases implements RedisLockIdRequests.Kind<ReleaseRequest, ReleaseResult> {

    private static final RedisScript RELEASE_ALL = RedisScript.named("release_all");

    private final RedisRequests requests;

    RedisReleases(RedisRequests requests) {
        this.requests = requests;
    }

    @Override
    public KeyedLockId idOf(ReleaseRequest item) {
        return item.id();
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<ReleaseRequest> items) {
        List<String> lockIds = items.stream().map(item -> item.id().lockId()).toList();
        return requests.ofLockIds("releasing " + items.size() + " lock(s)", RELEASE_ALL, locks, lockIds, lockIds);
    }

    @Override
    public List<ReleaseResult> read(RedisReply reply, int size) {
        return reply.answers(size, i -> RedisReplyReader.readRelease(reply.answer(i)));
    }

    @Override
    public ReleaseResult notFound() {
        return ReleaseResult.NOT_FOUND;
    }
}
