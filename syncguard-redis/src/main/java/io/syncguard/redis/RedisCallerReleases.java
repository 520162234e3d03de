package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.LockBackendException;
import io.syncguard.spi.ReleaseResult;
import java.util.List;

/** Ends leases of one caller, with hand-overs. */
final class RedisCallerReleases implements RedisShardedRequests.Kind<String, ReleaseResult> {

    @Override
    public String lockId(String item) {
        return item;
    }

    @Override
    public RedisRequest request(RedisShard shard, List<String> items) {
        return RedisBatchSender.batch(
                "releasing " + items.size() + " lock(s)",
                shard,
                items.stream()
                        .map(lockId -> RedisLeaseRequests.release(shard, lockId))
                        .toList());
    }

    @Override
    public ReleaseResult read(RedisReply reply, int index) {
        RedisReply answer = reply.answer(index);
        if (answer.text(0).equals("error")) {
            throw RedisErrors.translate("releasing a lock", new RedisCommandExecutionException(answer.text(1)));
        }
        return RedisReplyReader.readRelease(answer, 0);
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
