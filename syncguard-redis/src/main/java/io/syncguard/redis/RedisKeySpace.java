package io.syncguard.redis;

import io.syncguard.spi.StorageKeys;

/**
 * Names the keys of one prefix. The scripts put a family between the prefix and the name of a lock, so that keys of
 * users and keys of the library cannot collide.
 */
final class RedisKeySpace {

    private final StorageKeys storageKeys;
    private final String prefix;

    RedisKeySpace(StorageKeys storageKeys) {
        this.storageKeys = storageKeys;
        this.prefix = storageKeys.prefix().isEmpty() ? "" : storageKeys.prefix() + ":";
    }

    /** The beginning of every key, with its separator. */
    String prefix() {
        return prefix;
    }

    /**
     * Returns the name of a lock, which follows the family: the key itself if it is short enough, otherwise its hash.
     */
    String name(String key) {
        return storageKeys.of(key).substring(prefix.length());
    }

    String key(String family, String name) {
        return prefix + family + ":" + name;
    }
}
