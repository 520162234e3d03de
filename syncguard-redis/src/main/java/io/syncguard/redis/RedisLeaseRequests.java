package io.syncguard.redis;

import io.syncguard.ForcedRelease;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;

/** Ends a lease or takes a fence for it, by its lock id; or ends all leases of a key. */
final class RedisLeaseRequests {

    private static final RedisScript ROTATE = RedisScript.named("rotate");
    private static final RedisScript RELEASE = RedisScript.named("release");
    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");
    private static final RedisScript FORCE_RELEASE = RedisScript.named("force_release");

    private final RedisScriptRunner scripts;
    private final RedisCallerRequests callerRequests;
    private final RedisKeySpace keys;
    private final RedisShards shards;

    RedisLeaseRequests(
            RedisScriptRunner scripts, RedisCallerRequests callerRequests, RedisKeySpace keys, RedisShards shards) {
        this.scripts = scripts;
        this.callerRequests = callerRequests;
        this.keys = keys;
        this.shards = shards;
    }

    ReleaseResult release(String lockId) {
        RedisShard shard = shards.ofLockId(lockId);
        return shard == null
                ? ReleaseResult.NOT_FOUND
                : callerRequests.run(
                        release(shard, lockId), scripts.limit(), reply -> RedisReplyReader.readRelease(reply, 0));
    }

    static RedisRequest release(RedisShard shard, String lockId) {
        return new RedisRequest("releasing a lock", RELEASE, shard, List.of(lockId));
    }

    ReleaseResult releaseAfter(String lockId, Duration held) {
        RedisShard shard = shards.ofLockId(lockId);
        return shard == null
                ? ReleaseResult.NOT_FOUND
                : scripts.run(releaseAfter(shard, lockId, held), reply -> RedisReplyReader.readRelease(reply, 0));
    }

    static RedisRequest releaseAfter(RedisShard shard, String lockId, Duration held) {
        return new RedisRequest("releasing a lock", RELEASE_AFTER, shard, List.of(lockId, millis(held)));
    }

    ExtendResult rotate(ExtendRequest request) {
        RedisShard shard = shards.ofLockId(request.lockId());
        return shard == null
                ? new ExtendResult.NotFound()
                : scripts.run(
                        new RedisRequest(
                                "taking the next fence for a lock",
                                ROTATE,
                                shard,
                                List.of(request.lockId(), millis(request.ttl()))),
                        request.ttl(),
                        RedisReplyReader::readRotation);
    }

    ForcedRelease forceRelease(String key) {
        String name = keys.name(key);
        return scripts.run(
                new RedisRequest(
                        "releasing lock '" + key + "' by force", FORCE_RELEASE, shards.ofName(name), List.of(name)),
                reply -> RedisReplyReader.readForcedRelease(reply, key));
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
