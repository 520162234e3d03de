package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.CallerBatching;
import io.syncguard.core.StoreCalls;
import io.syncguard.jdbc.JdbcDatabase;
import io.syncguard.jdbc.JdbcPools;
import io.syncguard.portable.Dialect;
import io.syncguard.portable.MySqlDialect;
import io.syncguard.portable.PortableLockBackend;
import io.syncguard.portable.PortableSchema;
import io.syncguard.portable.PortableScript;
import io.syncguard.portable.PortableSettings;
import io.syncguard.portable.PortableTables;
import io.syncguard.postgres.PostgresBatching;
import io.syncguard.postgres.PostgresDatabase;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.redis.RedisBatching;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Creates the backend of an application by the URL of its server, for tests that need no application. The backend has
 * the connections and settings that the application would get.
 */
public final class ApplicationBackend {

    /** {@code auto}, {@code off}, or {@code always}, which batches a request that comes alone, too. */
    public static final String BATCHING = "test.batching";

    /** Whether sessions on MariaDB keep the time that they last read in {@code @syncguard_now}, for triggers. */
    public static final String KEEPS_TIME = "test.keeps-time";

    private static final String CLUSTER = "redis-cluster://";

    private ApplicationBackend() {}

    /** Creates a backend with the default settings, and the schema. */
    public static StoreCalls on(String url) {
        return on(url, 8, Duration.ofSeconds(5));
    }

    /**
     * Creates a backend and the schema.
     *
     * @param poolSize see {@code syncguard.postgres.pool-size}
     * @param networkTimeout see {@code syncguard.postgres.network-timeout}
     */
    public static StoreCalls on(String url, int poolSize, Duration networkTimeout) {
        return on(url, poolSize, networkTimeout, PostgresSettings.WAITER_TTL);
    }

    /**
     * Creates a backend, and the schema if the store has one.
     *
     * @param url the URL of JDBC or of Redis; {@code redis-cluster://host:port,host:port} is a cluster, with four
     *     shards
     * @param waiterTtl how long a queue entry lives; the safety poll of a waiter comes after a third of it
     */
    public static StoreCalls on(String url, int poolSize, Duration networkTimeout, Duration waiterTtl) {
        return on(url, poolSize, networkTimeout, waiterTtl, property -> null);
    }

    /**
     * Creates a backend, and the schema if the store has one.
     *
     * @param properties the values of {@value #BATCHING}, {@value #KEEPS_TIME} and {@code syncguard.fences}; null for
     *     the default
     */
    public static StoreCalls on(
            String url,
            int poolSize,
            Duration networkTimeout,
            Duration waiterTtl,
            Function<String, @Nullable String> properties) {
        if (url.startsWith(CLUSTER)) {
            return onCluster(
                    url.substring(CLUSTER.length()),
                    value(properties, BATCHING, RedisBatching.AUTO),
                    redisSettings(networkTimeout, waiterTtl, 4, properties));
        }
        if (url.startsWith("jdbc:mariadb:")) {
            return onMariaDb(url, poolSize, networkTimeout, waiterTtl, properties);
        }
        return url.startsWith("redis:")
                ? onRedis(
                        url,
                        value(properties, BATCHING, RedisBatching.AUTO),
                        redisSettings(networkTimeout, waiterTtl, 1, properties))
                : onPostgres(url, poolSize, networkTimeout, waiterTtl, properties);
    }

    private static RedisSettings redisSettings(
            Duration networkTimeout, Duration waiterTtl, int shards, Function<String, @Nullable String> properties) {
        return new RedisSettings(
                RedisSettings.KEY_PREFIX,
                networkTimeout,
                waiterTtl,
                shards,
                FenceSettings.from(value(properties, "syncguard.fences", FenceSource.CLOCK)));
    }

    private static <E extends Enum<E>> E value(
            Function<String, @Nullable String> properties, String name, E otherwise) {
        String value = properties.apply(name);
        return value == null ? otherwise : Enum.valueOf(otherwise.getDeclaringClass(), value.toUpperCase(Locale.ROOT));
    }

    private static StoreCalls onRedis(String url, RedisBatching batching, RedisSettings settings) {
        // The library reads its connection details and never opens a connection.
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                (RedisStandaloneConfiguration) LettuceConnectionFactory.createRedisConfiguration(url));
        return batching.backend(application, settings);
    }

    private static StoreCalls onCluster(String nodes, RedisBatching batching, RedisSettings settings) {
        // The library reads its connection details and never opens a connection.
        LettuceConnectionFactory application =
                new LettuceConnectionFactory(new RedisClusterConfiguration(List.of(nodes.split(","))));
        return batching.backend(application, settings);
    }

    private static StoreCalls onMariaDb(
            String url,
            int poolSize,
            Duration networkTimeout,
            Duration waiterTtl,
            Function<String, @Nullable String> properties) {
        Dialect dialect = properties.apply(KEEPS_TIME) == null ? new MySqlDialect() : keepingTime(new MySqlDialect());
        JdbcPools pools = pools(dialect, url, false, poolSize, networkTimeout);
        new PortableSchema(pools.operations(), new PortableScript(dialect, PortableTables.DEFAULT), null)
                .initialize(List::of);
        pools.started();
        return value(properties, BATCHING, CallerBatching.AUTO)
                .on(new PortableLockBackend(
                        pools.operations(),
                        pools.engine(),
                        dialect,
                        PortableTables.DEFAULT,
                        new PortableSettings(pools.timeout(), waiterTtl, Duration.ZERO, FenceSource.COUNTER),
                        pools::close));
    }

    private static Dialect keepingTime(MySqlDialect dialect) {
        String clock = "(@syncguard_now := " + dialect.clock() + ")";
        return (Dialect) Proxy.newProxyInstance(
                Dialect.class.getClassLoader(),
                new Class<?>[] {Dialect.class},
                (proxy, method, arguments) ->
                        method.getName().equals("clock") ? clock : method.invoke(dialect, arguments));
    }

    private static StoreCalls onPostgres(
            String url,
            int poolSize,
            Duration networkTimeout,
            Duration waiterTtl,
            Function<String, @Nullable String> properties) {
        JdbcPools pools = pools(url, poolSize, networkTimeout);
        FenceSource fences = value(properties, "syncguard.fences", FenceSource.COUNTER);
        new PostgresSchema(pools.operations(), PostgresTables.DEFAULT, fences).initialize();
        return on(pools, waiterTtl, value(properties, BATCHING, PostgresBatching.AUTO));
    }

    /** Creates a backend on a database with the schema. It connects with the first request. */
    public static StoreCalls onReadyPostgres(
            String url, int poolSize, Duration networkTimeout, Duration waiterTtl, PostgresBatching batching) {
        return on(pools(url, poolSize, networkTimeout), waiterTtl, batching);
    }

    private static JdbcPools pools(String url, int poolSize, Duration networkTimeout) {
        return pools(new PostgresDatabase(), url, true, poolSize, networkTimeout);
    }

    private static JdbcPools pools(
            JdbcDatabase database, String url, boolean wakeUps, int poolSize, Duration networkTimeout) {
        // The library reads its connection details and never opens a connection.
        HikariDataSource application = new HikariDataSource();
        application.setJdbcUrl(url);
        return new JdbcPools(
                database,
                application,
                false,
                new JdbcPools.Settings("syncguard.postgres", poolSize, wakeUps, networkTimeout, ""));
    }

    private static StoreCalls on(JdbcPools pools, Duration waiterTtl, PostgresBatching batching) {
        pools.started();
        return batching.backend(
                pools.operations(),
                pools.engine(),
                pools.wakeUps(),
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        pools.timeout(),
                        waiterTtl,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                pools::close);
    }
}
