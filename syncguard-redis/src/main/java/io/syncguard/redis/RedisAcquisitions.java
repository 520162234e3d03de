package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import java.util.List;
import java.util.Optional;

/**
 * Attempts of one caller for several keys. The answer is empty for an attempt without effect, which has to be repeated.
 */
final class RedisAcquisitions implements RedisShardedRequests.Kind<AcquireRequest, Optional<AcquireResult>> {

    private final RedisAcquireRequests requests;
    private final String channel;

    RedisAcquisitions(RedisAcquireRequests requests, String channel) {
        this.requests = requests;
        this.channel = channel;
    }

    @Override
    public KeyedLockId idOf(AcquireRequest item) {
        return item.keyedLockId();
    }

    @Override
    public RedisRequest request(List<RedisLock> locks, List<AcquireRequest> items) {
        return RedisBatchSender.batch(
                "acquiring " + items.size() + " lock(s)",
                locks.get(0).shard(),
                items.stream().map(item -> requests.of(item, channel, null)).toList());
    }

    /** Returns empty for an error: repeating the single attempt reports it better. */
    @Override
    public Optional<AcquireResult> read(RedisReply reply, int index) {
        RedisReply answer = reply.answer(index);
        return RedisReplyReader.isGrantOrRefusal(answer)
                ? Optional.of(RedisReplyReader.readAcquire(answer, ""))
                : Optional.empty();
    }

    @Override
    public Optional<AcquireResult> notFound() {
        return Optional.empty();
    }

    /** An error that is in doubt puts the grants of the other shards in doubt, too. */
    @Override
    public Optional<AcquireResult> failed(LockBackendException error) {
        return switch (error.code()) {
            case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, ABORTED, INTERNAL -> throw error;
            default -> Optional.empty();
        };
    }
}
