package io.syncguard.redis;

/**
 * A part of the keys of a prefix. All keys of a lock are in one shard, and all keys of a shard are on one node of a
 * cluster.
 */
final class RedisShard {

    private final int number;
    private final String prefix;

    RedisShard(int number, String prefix) {
        this.number = number;
        this.prefix = prefix;
    }

    int number() {
        return number;
    }

    /** The beginning of each Redis key of the shard. */
    String prefix() {
        return prefix;
    }

    /** The Redis key that stores the key of a lock id of this shard. */
    String id(String lockId) {
        return prefix + "id:" + lockId;
    }
}
