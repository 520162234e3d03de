package io.syncguard.redis;

import io.syncguard.RawLockInfo;
import java.util.List;
import java.util.Optional;

/** Reads leases. */
final class RedisLookups {

    private static final RedisScript IS_LOCKED = RedisScript.named("is_locked");
    private static final RedisScript LOOKUP = RedisScript.named("lookup");

    private final RedisScriptRunner scripts;
    private final RedisKeySpace keys;
    private final RedisShards shards;

    RedisLookups(RedisScriptRunner scripts, RedisKeySpace keys, RedisShards shards) {
        this.scripts = scripts;
        this.keys = keys;
        this.shards = shards;
    }

    boolean isLocked(String key) {
        String name = keys.name(key);
        return scripts.run(
                new RedisRequest("looking at lock '" + key + "'", IS_LOCKED, shards.ofName(name), List.of(name)),
                reply -> reply.number(0) == 1);
    }

    List<RawLockInfo> lookup(String key) {
        String name = keys.name(key);
        return lookup("looking up lock '" + key + "'", shards.ofName(name), List.of("KEY", name));
    }

    Optional<RawLockInfo> lookupById(String lockId) {
        RedisShard shard = shards.ofLockId(lockId);
        return shard == null
                ? Optional.empty()
                : lookup("looking up a lock by its id", shard, List.of("LOCK_ID", lockId)).stream()
                        .findFirst();
    }

    private List<RawLockInfo> lookup(String doing, RedisShard shard, List<String> arguments) {
        return scripts.run(new RedisRequest(doing, LOOKUP, shard, arguments), RedisReplyReader::readInfos);
    }
}
