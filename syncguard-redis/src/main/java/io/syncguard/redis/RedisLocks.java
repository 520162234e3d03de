package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the shards and the names of locks. */
final class RedisLocks {

    /** 16 bytes in base64url. */
    private static final Pattern HASH = Pattern.compile("[A-Za-z0-9_-]{22}");

    private final RedisKeySpace keys;
    private final RedisShards shards;

    RedisLocks(RedisKeySpace keys, RedisShards shards) {
        this.keys = keys;
        this.shards = shards;
    }

    RedisLock of(String key) {
        String name = keys.name(key);
        return new RedisLock(key, name, shards.ofName(name));
    }

    /** Whether a name may be the hash of a key. Such a name may also be a key. */
    boolean mayBeHash(String name) {
        return HASH.matcher(name).matches();
    }

    /** Returns the lock of a lock id; {@code null} if its key is unknown, or does not belong to the lock id. */
    @Nullable
    RedisLock of(KeyedLockId id) {
        String key = id.key();
        RedisLock lock = key == null ? null : of(key);
        return lock == null || !isFor(id.lockId(), lock) ? null : lock;
    }

    /** Whether the lock id may belong to the lock: both have the same shard. */
    boolean isFor(String lockId, RedisLock lock) {
        return shards.ofLockId(lockId) == lock.shard();
    }

    /** The shard of a lock id; {@code null} if there is none. */
    @Nullable
    RedisShard shardOf(String lockId) {
        return shards.ofLockId(lockId);
    }
}
