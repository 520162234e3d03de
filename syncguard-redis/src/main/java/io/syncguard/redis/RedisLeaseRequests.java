package io.syncguard.redis;

import io.syncguard.ForcedRelease;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;

/** Ends a lease by its lock id, takes a fence for it, or ends all leases of a key. */
final class RedisLeaseRequests {

    private static final RedisScript ROTATE = RedisScript.named("rotate");
    private static final RedisScript RELEASE = RedisScript.named("release");
    private static final RedisScript RELEASE_AFTER = RedisScript.named("release_after");
    private static final RedisScript FORCE_RELEASE = RedisScript.named("force_release");

    private final RedisScriptRunner scripts;
    private final RedisCallerRequests callerRequests;
    private final RedisRequests requests;
    private final RedisLocks locks;
    private final RedisLockIds lockIds;

    RedisLeaseRequests(
            RedisScriptRunner scripts,
            RedisCallerRequests callerRequests,
            RedisRequests requests,
            RedisLocks locks,
            RedisLockIds lockIds) {
        this.scripts = scripts;
        this.callerRequests = callerRequests;
        this.requests = requests;
        this.locks = locks;
        this.lockIds = lockIds;
    }

    /** @param channel of this process; empty if it receives no hand-overs */
    ReleaseResult release(KeyedLockId id, String channel) {
        RedisLock lock = lockIds.lockOf(id, scripts.limit());
        return lock == null
                ? ReleaseResult.NOT_FOUND
                : callerRequests.run(
                        release(requests, lock, id.lockId(), channel), scripts.limit(), RedisReplyReader::readRelease);
    }

    static RedisRequest release(RedisRequests requests, RedisLock lock, String lockId, String channel) {
        return requests.ofLockId("releasing a lock", RELEASE, lock, lockId, channel);
    }

    ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        RedisLock lock = lockIds.lockOf(id, scripts.limit());
        return lock == null
                ? ReleaseResult.NOT_FOUND
                : scripts.run(releaseAfter(lock, id.lockId(), held), RedisReplyReader::readRelease);
    }

    RedisRequest releaseAfter(RedisLock lock, String lockId, Duration held) {
        return requests.ofLockId("releasing a lock", RELEASE_AFTER, lock, lockId, millis(held));
    }

    ExtendResult rotate(ExtendRequest request) {
        RedisLock lock = lockIds.lockOf(RedisExtensions.id(request), scripts.limit(request.ttl()));
        return lock == null
                ? new ExtendResult.NotFound()
                : scripts.run(
                        requests.ofLockId(
                                "taking the next fence for a lock",
                                ROTATE,
                                lock,
                                request.lockId(),
                                millis(request.ttl())),
                        request.ttl(),
                        RedisReplyReader::readRotation);
    }

    ForcedRelease forceRelease(String key) {
        return scripts.run(
                requests.ofLock("releasing lock '" + key + "' by force", FORCE_RELEASE, locks.of(key)),
                reply -> RedisReplyReader.readForcedRelease(reply, key));
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
