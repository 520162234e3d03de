package io.syncguard.redis;

import io.syncguard.LockSetupException;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Checks the server at the start: refuses a version that is too old, and warns if the server evicts keys when its
 * memory is full.
 */
final class RedisServerCheck {

    private static final Log log = LogFactory.getLog(RedisServerCheck.class);

    private static final String COVERAGE = "cluster-require-full-coverage";

    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

    private RedisServerCheck() {}

    /**
     * Asks every node once. Ignores an error, which the next lock operation reports.
     *
     * @throws LockSetupException if a node is older than 6.2
     */
    static void check(RedisConnections connections) {
        Properties info = info(connections);
        if (info != null) {
            valuesOf(info, "redis_version").forEach(RedisServerCheck::requireVersion);
            valuesOf(info, "maxmemory_policy").forEach(RedisServerCheck::warnOf);
            if (!connections.isCluster() && "cluster".equals(info.getProperty("redis_mode"))) {
                log.warn(
                        connections.server() + " is a node of a cluster, but the settings are for a single Redis: locks"
                                + " fail when their keys move to another node. Set spring.data.redis.cluster.nodes");
            }
        }
    }

    /** Warns if one master that is away stops the locks of all shards. Redis asks for that by default. */
    static void checkCoverage(RedisConnections connections) {
        try (RedisConnection connection = connections.connection()) {
            Properties settings = connection.serverCommands().getConfig(COVERAGE);
            if (settings != null && valuesOf(settings, COVERAGE).anyMatch("yes"::equals)) {
                log.warn("With " + COVERAGE
                        + " yes, all shards are unavailable while one master is away. Set it to no on" + " each node");
            }
        } catch (RuntimeException ex) {
            log.debug("Redis could not be asked for " + COVERAGE, ex);
        }
    }

    private static @Nullable Properties info(RedisConnections connections) {
        try (RedisConnection connection = connections.connection()) {
            return connection.serverCommands().info();
        } catch (RuntimeException ex) {
            log.debug("Redis could not be asked for its version and its eviction policy", ex);
            return null;
        }
    }

    /** In a cluster, the address of the node and a dot come before the name. */
    private static Stream<String> valuesOf(Properties info, String name) {
        return info.stringPropertyNames().stream()
                .filter(each -> each.equals(name) || each.endsWith("." + name))
                .map(info::getProperty)
                .distinct();
    }

    private static void requireVersion(String version) {
        Matcher numbers = VERSION.matcher(version);
        if (numbers.matches() && Integer.parseInt(numbers.group(1)) * 100 + Integer.parseInt(numbers.group(2)) < 602) {
            throw LockSetupException.invalid(
                    "Redis is version " + version + ", but SyncGuard needs 6.2 or later",
                    "Update the server",
                    "Set spring.data.redis.url to a newer one, or to a Valkey");
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
