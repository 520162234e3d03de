package io.syncguard.redis;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.spi.StorageKeys;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The settings of the Redis backend.
 *
 * @param keyPrefix begins every key; with a hash tag, such as <code>{syncguard}:</code>, all keys are on one node of a
 *     cluster
 * @param timeout how long the server may be silent, at most
 * @param waiterTtl how long a queue entry lives unless its waiter renews it
 */
public record RedisSettings(String keyPrefix, Duration timeout, Duration waiterTtl) {

    /** The default prefix. */
    public static final String KEY_PREFIX = "{syncguard}:";

    /** The ttl of a queue entry: a dead waiter delays those behind it by five seconds. */
    public static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);

    /** Far longer than a lock operation may take. */
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

    /** A cluster hashes only the text between the first opening brace and the first closing one behind it. */
    private static final Pattern HASH_TAG = Pattern.compile("[^{]*\\{[^}]+}.*", Pattern.DOTALL);

    public RedisSettings {
        keys(keyPrefix);
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.redis.network-timeout has to be between " + SHORTEST_TIMEOUT.toMillis() + " ms and "
                            + LONGEST_TIMEOUT.toMinutes() + " min, not " + timeout);
        }
    }

    RedisKeySpace keys() {
        return keys(keyPrefix);
    }

    /** Refuses a prefix that would spread the keys of one lock over the nodes of a cluster. */
    void checkForCluster() {
        if (!HASH_TAG.matcher(keyPrefix).matches()) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.redis.key-prefix is '" + keyPrefix
                            + "', but in a cluster it has to contain a hash tag, such as " + KEY_PREFIX
                            + ": all keys of a lock have to be on one node");
        }
    }

    /** A key has at most 1000 bytes, and 26 are left for the name of its family. */
    private static RedisKeySpace keys(String keyPrefix) {
        return new RedisKeySpace(new StorageKeys(keyPrefix, 1000, 26));
    }
}
