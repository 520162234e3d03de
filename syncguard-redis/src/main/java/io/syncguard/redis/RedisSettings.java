package io.syncguard.redis;

import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.StorageKeys;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The settings of the Redis backend.
 *
 * @param keyPrefix the beginning of every key; with a hash tag, such as <code>{syncguard}:</code>, all keys are on one
 *     node of a cluster
 * @param timeout maximum wait for an answer of the server
 * @param waiterTtl how long a queue entry lives unless its waiter renews it
 * @param shards number of hash tags over which the keys are spread, so that the masters of a cluster share them; one
 *     for a single server. The number cannot change while there are keys under the prefix
 * @param fences how fences are drawn. Their source can change from counter to clock, and not back
 */
public record RedisSettings(String keyPrefix, Duration timeout, Duration waiterTtl, int shards, FenceSettings fences) {

    /** The default prefix. */
    public static final String KEY_PREFIX = "{syncguard}:";

    /** The ttl of a queue entry: a dead waiter delays those behind it by five seconds. */
    public static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private static final String ADD_HASH_TAG =
            "Put a part of syncguard.redis.key-prefix into braces, as in the default " + KEY_PREFIX;

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);

    /** Far longer than a lock operation may take. */
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

    /** A cluster hashes only the text between the first opening brace and the first closing one behind it. */
    private static final Pattern HASH_TAG = Pattern.compile("[^{]*\\{[^}]+}.*", Pattern.DOTALL);

    public RedisSettings {
        keys(keyPrefix).requireOwn();
        if (shards < 1 || shards > RedisShards.MAX) {
            throw LockSetupException.invalid(
                    "syncguard.redis.shards is " + shards + ", but has to be between 1 and " + RedisShards.MAX,
                    "Correct syncguard.redis.shards");
        }
        if (shards > 1 && !hasHashTag(keyPrefix)) {
            throw LockSetupException.invalid(
                    "syncguard.redis.key-prefix is '" + keyPrefix + "', but with syncguard.redis.shards=" + shards
                            + " it has to contain a hash tag: each shard gets a variant of it",
                    ADD_HASH_TAG);
        }
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw LockSetupException.invalid(
                    "syncguard.redis.network-timeout is " + MessageText.of(timeout) + ", but has to be between "
                            + MessageText.of(SHORTEST_TIMEOUT) + " and " + MessageText.of(LONGEST_TIMEOUT),
                    "Correct syncguard.redis.network-timeout");
        }
    }

    /** Creates settings with all keys in one shard, and fences by the clock. */
    public RedisSettings(String keyPrefix, Duration timeout, Duration waiterTtl) {
        this(keyPrefix, timeout, waiterTtl, 1, FenceSettings.from(FenceSource.CLOCK));
    }

    RedisKeySpace keys() {
        return keys(keyPrefix);
    }

    RedisShards spread() {
        return new RedisShards(keys().prefix(), shards);
    }

    RedisLayout layout() {
        return new RedisLayout(this);
    }

    /** Refuses a prefix that would spread the keys of one lock over the nodes of a cluster. */
    void checkForCluster() {
        if (!hasHashTag(keyPrefix)) {
            throw LockSetupException.invalid(
                    "syncguard.redis.key-prefix is '" + keyPrefix
                            + "', but in a cluster it has to contain a hash tag: all keys of a lock have to be on one"
                            + " node",
                    ADD_HASH_TAG);
        }
    }

    private static boolean hasHashTag(String keyPrefix) {
        return HASH_TAG.matcher(keyPrefix).matches();
    }

    /** A Redis key has at most 1000 bytes; 26 of them are reserved for the name of its family. */
    private static RedisKeySpace keys(String keyPrefix) {
        try {
            return new RedisKeySpace(new StorageKeys(keyPrefix, 1000, 26));
        } catch (LockException ex) {
            throw LockSetupException.at("syncguard.redis.key-prefix", ex);
        }
    }
}
