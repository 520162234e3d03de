package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * A lock, and the names of its Redis keys.
 *
 * @param key the normalised key
 * @param name follows the family in each Redis key: the key itself if it is short enough, otherwise its hash
 * @param shard the shard with all its Redis keys
 */
record RedisLock(String key, String name, RedisShard shard) {

    /** In the order that the scripts expect. */
    private static final byte[][] FAMILIES = Stream.of(
                    "lock:", "fence:", "readers:", "queue:", "shared:", "waiting:", "waiters:")
            .map(RedisLock::bytes)
            .toArray(byte[][]::new);

    private static final byte[] ID = bytes("id:");

    /** The Redis keys for scripts on a whole lock. */
    RedisArguments keys() {
        byte[] prefix = shard.encodedPrefix();
        byte[] encodedName = bytes(name);
        // The family of the longest name, and the id.
        RedisArguments keys = new RedisArguments((FAMILIES.length + 1) * (prefix.length + encodedName.length + 20));
        for (byte[] family : FAMILIES) {
            keys.add(prefix, family, encodedName);
        }
        return keys;
    }

    /** The Redis keys for scripts on one lock id. */
    RedisArguments keys(String lockId) {
        return keys().add(shard.encodedPrefix(), ID, bytes(lockId));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The readable part of a lease or queue entry: the owner and, if it differs from the name, the key. */
    String label(String owner) {
        return owner + '\0' + (name.equals(key) ? "" : key);
    }

    /** The owner in a label. */
    static String owner(String label) {
        return label.substring(0, label.lastIndexOf('\0'));
    }

    /** The key in the label of a lease or queue entry of the lock with this name. A key has no such character. */
    static String key(String label, String name) {
        String key = label.substring(label.lastIndexOf('\0') + 1);
        return key.isEmpty() ? name : key;
    }
}
