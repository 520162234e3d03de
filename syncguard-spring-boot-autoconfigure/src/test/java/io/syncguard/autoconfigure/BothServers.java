package io.syncguard.autoconfigure;

import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A database and a prefix in Redis for applications that use both, and access to them without the library. */
final class BothServers implements AutoCloseable {

    private final TestDatabase database = TestDatabase.withSchema();
    private final String prefix = RedisServer.newPrefix();
    private final LettuceConnectionFactory connections = RedisServer.connections(RedisServer.url());
    private final StringRedisTemplate redis = new StringRedisTemplate();

    BothServers() {
        connections.afterPropertiesSet();
        connections.start();
        redis.setConnectionFactory(connections);
        redis.afterPropertiesSet();
    }

    /** Returns an application with this {@code syncguard.backend}. */
    ApplicationContextRunner with(String backend) {
        return unspecified().withPropertyValues("syncguard.backend=" + backend);
    }

    /** Returns an application that may use either server. */
    ApplicationContextRunner unspecified() {
        return on(RedisServer.url());
    }

    /** Returns an application with another Redis. */
    ApplicationContextRunner on(String redisUrl) {
        return Applications.on(database.url())
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=" + redisUrl,
                        "syncguard.redis.key-prefix=" + prefix + ":",
                        "syncguard.shutdown-timeout=0s");
    }

    /** Returns the backends that store a lock of this key now. */
    List<String> keepersOf(String key) {
        List<String> keepers = new ArrayList<>();
        if (database.lockedKeys().contains(key)) {
            keepers.add("postgres");
        }
        if (redis.hasKey(prefix + ":lock:" + key)) {
            keepers.add("redis");
        }
        return keepers;
    }

    @Override
    public void close() {
        connections.destroy();
    }
}
