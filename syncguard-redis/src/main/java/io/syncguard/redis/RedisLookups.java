package io.syncguard.redis;

import io.syncguard.RawLockInfo;
import io.syncguard.spi.KeyedLockId;
import java.util.List;
import java.util.Optional;

/** Reads leases. */
final class RedisLookups {

    private static final RedisScript IS_LOCKED = RedisScript.named("is_locked");
    private static final RedisScript LOOKUP = RedisScript.named("lookup");

    private final RedisScriptRunner scripts;
    private final RedisRequests requests;
    private final RedisLocks locks;
    private final RedisLockIds lockIds;

    RedisLookups(RedisScriptRunner scripts, RedisRequests requests, RedisLocks locks, RedisLockIds lockIds) {
        this.scripts = scripts;
        this.requests = requests;
        this.locks = locks;
        this.lockIds = lockIds;
    }

    boolean isLocked(String key) {
        return scripts.run(
                requests.ofLock("looking at lock '" + key + "'", IS_LOCKED, locks.of(key)),
                reply -> reply.number(0) == 1);
    }

    List<RawLockInfo> lookup(String key) {
        return lookup("looking up lock '" + key + "'", locks.of(key));
    }

    Optional<RawLockInfo> lookupById(KeyedLockId id) {
        RedisLock lock = lockIds.lockOf(id, scripts.limit());
        return lock == null
                ? Optional.empty()
                : lookup("looking up a lock by its id", lock).stream()
                        .filter(info -> info.lockId().equals(id.lockId()))
                        .findFirst();
    }

    private List<RawLockInfo> lookup(String doing, RedisLock lock) {
        return scripts.run(
                requests.ofLock(doing, LOOKUP, lock), reply -> RedisReplyReader.readInfos(reply, lock.key()));
    }
}
