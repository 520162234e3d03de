package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.postgres.PostgresBatching;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.redis.RedisBatching;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The backend of an application, by the URL of its server, for tests that need no application: with the connections and
 * settings that the application would get.
 */
public final class ApplicationBackend {

    private static final String CLUSTER = "redis-cluster://";

    private ApplicationBackend() {}

    /** With the default settings. Creates the schema. */
    public static LockBackend on(String url) {
        return on(url, 8, Duration.ofSeconds(5));
    }

    /**
     * Creates the schema.
     *
     * @param poolSize see {@code syncguard.postgres.pool-size}
     * @param networkTimeout see {@code syncguard.postgres.network-timeout}
     */
    public static LockBackend on(String url, int poolSize, Duration networkTimeout) {
        return on(url, poolSize, networkTimeout, PostgresSettings.WAITER_TTL);
    }

    /**
     * Creates the schema, if the store has one.
     *
     * @param url of JDBC, or of Redis; {@code redis-cluster://host:port,host:port} is a cluster, with four shards
     * @param waiterTtl how long a queue entry lives; the safety poll of a waiter comes after a third of it
     */
    public static LockBackend on(String url, int poolSize, Duration networkTimeout, Duration waiterTtl) {
        return on(url, poolSize, networkTimeout, waiterTtl, "auto");
    }

    /**
     * The same.
     *
     * @param batching see {@code syncguard.postgres.batching} and {@code syncguard.redis.batching}
     */
    public static LockBackend on(
            String url, int poolSize, Duration networkTimeout, Duration waiterTtl, String batching) {
        String value = batching.toUpperCase(Locale.ROOT);
        if (url.startsWith(CLUSTER)) {
            return onCluster(url.substring(CLUSTER.length()), networkTimeout, waiterTtl, RedisBatching.valueOf(value));
        }
        return url.startsWith("redis:")
                ? onRedis(url, networkTimeout, waiterTtl, RedisBatching.valueOf(value))
                : onPostgres(url, poolSize, networkTimeout, waiterTtl, PostgresBatching.valueOf(value));
    }

    private static LockBackend onRedis(
            String url, Duration networkTimeout, Duration waiterTtl, RedisBatching batching) {
        // The library reads its connection details and never opens a connection.
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                (RedisStandaloneConfiguration) LettuceConnectionFactory.createRedisConfiguration(url));
        application.afterPropertiesSet();
        return new RedisLockBackend(
                application, new RedisSettings(RedisSettings.KEY_PREFIX, networkTimeout, waiterTtl, 1, batching));
    }

    private static LockBackend onCluster(
            String nodes, Duration networkTimeout, Duration waiterTtl, RedisBatching batching) {
        // Asked for its connection details and never opened.
        LettuceConnectionFactory application =
                new LettuceConnectionFactory(new RedisClusterConfiguration(List.of(nodes.split(","))));
        application.afterPropertiesSet();
        return new RedisLockBackend(
                application, new RedisSettings(RedisSettings.KEY_PREFIX, networkTimeout, waiterTtl, 4, batching));
    }

    private static LockBackend onPostgres(
            String url, int poolSize, Duration networkTimeout, Duration waiterTtl, PostgresBatching batching) {
        // The library reads its connection details and never opens a connection.
        HikariDataSource application = new HikariDataSource();
        application.setJdbcUrl(url);
        PostgresPools pools = new PostgresPools(application, poolSize, true, networkTimeout);
        new PostgresSchema(pools.operations(), PostgresTables.DEFAULT).initialize();
        return new PostgresLockBackend(
                pools.operations(),
                pools.engine(),
                pools.wakeUps(),
                new PostgresSettings(
                        PostgresTables.DEFAULT, pools.timeout(), waiterTtl, Duration.ZERO, false, batching),
                pools::close);
    }
}
