package io.syncguard.autoconfigure;

import io.lettuce.core.RedisClient;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Locks in Redis, on request or if there is no {@link DataSource}. The server is that of the application's
 * {@link LettuceConnectionFactory}, or of the one marked with {@link SyncGuardRedisConnectionFactory}.
 */
@AutoConfiguration(
        before = PostgresLockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({LettuceConnectionFactory.class, RedisClient.class})
@Conditional(RedisLockAutoConfiguration.OnRedis.class)
@ConditionalOnMissingBean(LockBackend.class)
@EnableConfigurationProperties(SyncGuardProperties.class)
public final class RedisLockAutoConfiguration {

    private static final Log log = LogFactory.getLog(RedisLockAutoConfiguration.class);

    @Bean(Backend.REDIS_BEAN)
    RedisLockBackend syncGuardRedisLockBackend(
            SyncGuardProperties properties,
            @SyncGuardRedisConnectionFactory ObjectProvider<LettuceConnectionFactory> lockConnections,
            ObjectProvider<LettuceConnectionFactory> connections) {
        SyncGuardProperties.Redis redis = properties.redis();
        RedisLockBackend backend = new RedisLockBackend(
                LockStores.choose(
                        lockConnections,
                        connections,
                        SyncGuardRedisConnectionFactory.class,
                        RedisLockAutoConfiguration::noConnections),
                redis.settings(properties.fencesOr(FenceSource.CLOCK)));
        try {
            backend.checkServer();
        } catch (LockException ex) {
            backend.close();
            throw ex;
        }
        log.info("SyncGuard stores its locks under '" + redis.keyPrefix()
                + "' in Redis, on up to two separate connections");
        return backend;
    }

    private static LockSetupException noConnections() {
        return LockSetupException.invalid(
                "syncguard.backend names 'redis', but there is no LettuceConnectionFactory",
                "Use spring-boot-starter-data-redis with Lettuce, and set spring.data.redis.url",
                "Remove 'redis' from syncguard.backend");
    }

    /** Named in the property, or without a DataSource. */
    static final class OnRedis extends AnyNestedCondition {

        OnRedis() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBackend(Backend.REDIS)
        static class Chosen {}

        @ConditionalOnBackend(value = Backend.REDIS, matchIfMissing = true)
        @ConditionalOnBean(LettuceConnectionFactory.class)
        @ConditionalOnMissingBean(DataSource.class)
        static class Alone {}
    }
}
