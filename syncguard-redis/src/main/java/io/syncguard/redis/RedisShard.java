package io.syncguard.redis;

import java.nio.charset.StandardCharsets;

/**
 * A part of the keys of a prefix. All keys of a lock are in one shard, and all keys of a shard are on one node of a
 * cluster.
 */
final class RedisShard {

    private final int number;
    private final String prefix;
    private final byte[][] scriptKeys;

    RedisShard(int number, String prefix) {
        this.number = number;
        this.prefix = prefix;
        this.scriptKeys = new byte[][] {bytes(prefix), bytes(prefix + "none")};
    }

    int number() {
        return number;
    }

    /** The beginning of each of its keys. */
    String prefix() {
        return prefix;
    }

    /**
     * The keys of its scripts: the prefix, from which a cluster finds the node, and another key that does not exist.
     * While a slot moves to another node, the old node redirects a request whose key is missing to the new one, which
     * has no leases yet. The new one refuses a request that names several missing keys.
     */
    byte[][] scriptKeys() {
        return scriptKeys;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
