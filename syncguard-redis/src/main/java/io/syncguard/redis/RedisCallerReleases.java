package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.LockBackendException;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Ends leases of one caller, with hand-overs. */
final class RedisCallerReleases implements RedisShardedRequests.Kind<KeyedLockId, ReleaseResult> {

    private final RedisRequests requests;
    private final Supplier<String> channel;

    /** @param channel of this process; empty if it receives no hand-overs */
    RedisCallerReleases(RedisRequests requests, Supplier<String> channel) {
        this.requests = requests;
        this.channel = channel;
    }

    @Override
    public KeyedLockId idOf(KeyedLockId item) {
        return item;
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<KeyedLockId> items) {
        List<RedisRequest> releases = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            releases.add(RedisLeaseRequests.release(
                    requests, locks.get(i), items.get(i).lockId(), channel.get()));
        }
        return RedisBatchSender.batch("releasing " + items.size() + " lock(s)", releases);
    }

    @Override
    public ReleaseResult read(RedisReply reply, int index) {
        RedisReply answer = reply.answer(index);
        if (answer.text(0).equals("error")) {
            throw RedisErrors.translate("releasing a lock", new RedisCommandExecutionException(answer.text(1)));
        }
        return RedisReplyReader.readRelease(answer);
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
