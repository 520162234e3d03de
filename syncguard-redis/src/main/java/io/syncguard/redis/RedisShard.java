package io.syncguard.redis;

import java.nio.charset.StandardCharsets;

/**
 * A part of the keys of a prefix. All keys of a lock are in one shard, and all keys of a shard are on one node of a
 * cluster.
 */
final class RedisShard {

    private final int number;
    private final String prefix;
    private final byte[] encodedPrefix;

    RedisShard(int number, String prefix) {
        this.number = number;
        this.prefix = prefix;
        this.encodedPrefix = prefix.getBytes(StandardCharsets.UTF_8);
    }

    int number() {
        return number;
    }

    /** The beginning of each Redis key of the shard. */
    String prefix() {
        return prefix;
    }

    byte[] encodedPrefix() {
        return encodedPrefix;
    }

    /** The Redis key that stores the key of a lock id of this shard. */
    String id(String lockId) {
        return prefix + "id:" + lockId;
    }
}
