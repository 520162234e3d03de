package io.syncguard.redis;

import java.util.ArrayList;
import java.util.List;

/**
 * A lock, and the names of its Redis keys.
 *
 * @param key the normalised key
 * @param name follows the family in each Redis key: the key itself if it is short enough, otherwise its hash
 * @param shard the shard with all its Redis keys
 */
record RedisLock(String key, String name, RedisShard shard) {

    /** The Redis keys for scripts on a whole lock, in the order that the scripts expect. */
    List<String> keys() {
        return List.of(
                named("lock:"),
                named("fence:"),
                named("readers:"),
                named("queue:"),
                named("shared:"),
                named("waiting:"),
                named("waiters:"));
    }

    /** The Redis keys for scripts on one lock id. */
    List<String> keys(String lockId) {
        List<String> keys = new ArrayList<>(keys());
        keys.add(shard.id(lockId));
        return keys;
    }

    private String named(String family) {
        return shard.prefix() + family + name;
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
