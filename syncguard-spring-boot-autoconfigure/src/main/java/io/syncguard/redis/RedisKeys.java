package io.syncguard.redis;

import io.syncguard.spi.StorageKeys;

/**
 * The names of keys. They are separated by family, so that no key of a user can meet one of ours: the scripts put a family
 * between the prefix and the name of a lock.
 */
final class RedisKeys {

    private final StorageKeys storageKeys;

    /** What every key begins with. */
    private final String start;

    RedisKeys(StorageKeys storageKeys) {
        this.storageKeys = storageKeys;
        this.start = storageKeys.prefix().isEmpty() ? "" : storageKeys.prefix() + ":";
    }

    String start() {
        return start;
    }

    /** What stands for the key behind the family: the key itself where it fits, a hash where it does not. */
    String name(String key) {
        return storageKeys.of(key).substring(start.length());
    }

    String of(String family, String name) {
        return start + family + ":" + name;
    }
}
