package io.syncguard.redis;

import java.util.Properties;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Warns of a server that evicts keys when its memory is full.
 */
final class RedisEviction {

    private static final Log log = LogFactory.getLog(RedisEviction.class);

    private RedisEviction() {}

    /** Asks every node once. It ignores an error, which the next lock operation reports. */
    static void warnOf(RedisConnections connections) {
        try (RedisConnection connection = connections.connection()) {
            Properties memory = connection.serverCommands().info("memory");
            if (memory != null) {
                // In a cluster, the address of the node and a dot come first.
                memory.stringPropertyNames().stream()
                        .filter(name -> name.endsWith("maxmemory_policy"))
                        .map(memory::getProperty)
                        .distinct()
                        .forEach(RedisEviction::warnOf);
            }
        } catch (RuntimeException ex) {
            log.debug("Redis could not be asked for its eviction policy", ex);
        }
    }

    private static void warnOf(String policy) {
        if (policy.startsWith("allkeys-")) {
            log.warn("With maxmemory-policy " + policy
                    + ", Redis deletes locks and fence counters when its memory is"
                    + " full: a lock can have two holders, and fences from counters begin again. Set noeviction, or"
                    + " use a separate Redis for locks");
        } else if (policy.startsWith("volatile-")) {
            log.warn("With maxmemory-policy " + policy
                    + ", Redis deletes locks when its memory is full: a lock can have"
                    + " two holders. Set noeviction, or use a separate Redis for locks");
        }
    }
}
