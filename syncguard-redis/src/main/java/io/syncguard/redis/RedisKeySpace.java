package io.syncguard.redis;

import io.syncguard.LockSetupException;
import io.syncguard.spi.StorageKeys;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Names the keys of one prefix. The scripts put a family between the prefix and the name of a lock, so that keys of
 * users and keys of the library cannot collide.
 */
final class RedisKeySpace {

    /** The words that follow the prefix in the keys and channels of the library. */
    private static final List<String> FAMILIES =
            List.of("lock", "readers", "shared", "queue", "waiting", "waiters", "id", "fence", "layout", "wake");

    /** A hash tag as {@link RedisHashTags} makes one for each shard of a prefix. */
    private static final Pattern TAG_OF_SHARD = Pattern.compile("[^{]*\\{[^}]*#[0-9]+}.*", Pattern.DOTALL);

    private final StorageKeys storageKeys;
    private final String prefix;

    RedisKeySpace(StorageKeys storageKeys) {
        this.storageKeys = storageKeys;
        this.prefix = storageKeys.prefix().isEmpty() ? "" : storageKeys.prefix() + ":";
    }

    /**
     * Refuses a prefix that may begin with a key of another one: the keys of <code>{a}:lock:</code> would be keys of
     * <code>{a}:</code>, and those of <code>{a#1}:</code> of a shard of it.
     *
     * @throws LockSetupException if another application with a shorter prefix would share its keys
     */
    void requireOwn() {
        for (String part : storageKeys.prefix().split(":")) {
            if (FAMILIES.contains(part)) {
                throw LockSetupException.invalid(
                        "syncguard.redis.key-prefix is '" + prefix + "', but '" + part
                                + "' follows the prefix in keys of SyncGuard: an application whose prefix ends before"
                                + " it would share these locks",
                        "Choose another word for this part of syncguard.redis.key-prefix; only these are taken: "
                                + String.join(", ", FAMILIES));
            }
        }
        if (TAG_OF_SHARD.matcher(prefix).matches()) {
            throw LockSetupException.invalid(
                    "syncguard.redis.key-prefix is '" + prefix
                            + "', but a hash tag that ends with # and a number is one"
                            + " of a shard: an application with several shards and the tag without the number would"
                            + " share these locks",
                    "Choose another hash tag in syncguard.redis.key-prefix");
        }
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
