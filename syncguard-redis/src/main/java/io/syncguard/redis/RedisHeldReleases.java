package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.util.List;
import java.util.Objects;

/** Ends a lease a time after its grant. */
final class RedisHeldReleases implements RedisLockIdRequests.Kind<ReleaseRequest, ReleaseResult> {

    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");

    private final RedisRequests requests;

    RedisHeldReleases(RedisRequests requests) {
        this.requests = requests;
    }

    @Override
    public KeyedLockId idOf(ReleaseRequest item) {
        return item.id();
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<ReleaseRequest> items) {
        ReleaseRequest item = items.get(0);
        String held = Long.toString(Objects.requireNonNull(item.heldFor()).toMillis());
        return requests.ofLockId(
                "releasing a lock", RELEASE_AFTER, locks.get(0), item.id().lockId(), held);
    }

    @Override
    public List<ReleaseResult> read(RedisReply reply, int size) {
        return List.of(RedisReplyReader.readRelease(reply));
    }

    @Override
    public ReleaseResult notFound() {
        return ReleaseResult.NOT_FOUND;
    }
}
