package io.syncguard.redis;

import java.util.ArrayList;
import java.util.List;

/**
 * A lock, and the names of its keys.
 *
 * @param key the normalised key
 * @param name follows the families: the key itself if it is short enough, else its hash
 * @param shard that has all its keys
 */
record RedisLock(String key, String name, RedisShard shard) {

    /** What the scripts for all of a lock may touch, in the order in which they know it. */
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

    /** What the scripts for one lock id may touch. */
    List<String> keys(String lockId) {
        List<String> keys = new ArrayList<>(keys());
        keys.add(shard.id(lockId));
        return keys;
    }

    private String named(String family) {
        return shard.prefix() + family + name;
    }

    /** What a lease and a queue entry say to people: the owner and, if the name does not show it, the key. */
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
