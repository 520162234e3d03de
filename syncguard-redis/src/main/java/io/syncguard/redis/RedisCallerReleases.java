package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Ends leases, with hand-overs. */
final class RedisCallerReleases implements RedisLockIdRequests.Kind<ReleaseRequest, ReleaseResult> {

    private static final RedisScript RELEASE = RedisScript.named("release");

    private final RedisRequests requests;
    private final Supplier<String> channel;

    /** @param channel of this process; empty if it receives no hand-overs */
    RedisCallerReleases(RedisRequests requests, Supplier<String> channel) {
        this.requests = requests;
        this.channel = channel;
    }

    RedisRequest request(RedisLock lock, String lockId) {
        return requests.ofLockId("releasing a lock", RELEASE, lock, lockId, channel.get());
    }

    @Override
    public KeyedLockId idOf(ReleaseRequest item) {
        return item.id();
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<ReleaseRequest> items) {
        List<RedisRequest> releases = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            String lockId = items.get(i).id().lockId();
            releases.add(request(locks.get(i), lockId));
        }
        return releases.size() == 1
                ? releases.get(0)
                : RedisRequest.batch("releasing " + items.size() + " lock(s)", releases);
    }

    @Override
    public List<ReleaseResult> read(RedisReply reply, int size) {
        return size == 1
                ? List.of(RedisReplyReader.readRelease(reply))
                : reply.answers(
                        size,
                        i -> RedisReplyReader.inBatch(
                                reply.answer(i), RedisReplyReader::readRelease, ReleaseResult.UNDECIDED));
    }

    @Override
    public ReleaseResult notFound() {
        return ReleaseResult.NOT_FOUND;
    }
}
