package io.syncguard.autoconfigure;

import io.lettuce.core.RedisClient;
import io.syncguard.LockException;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.spi.FenceSource;
import java.lang.annotation.Annotation;
import java.util.Objects;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores locks in Redis, on request or if there is no {@link DataSource}. The server is that of the application's
 * {@link LettuceConnectionFactory}, or of the one marked with {@link SyncGuardRedisConnectionFactory}.
 */
@AutoConfiguration(
        before = SyncGuardAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({LettuceConnectionFactory.class, RedisClient.class})
@Conditional(RedisLockAutoConfiguration.OnRedis.class)
@EnableConfigurationProperties(SyncGuardProperties.class)
public final class RedisLockAutoConfiguration {

    static final String NAME = "redis";

    private static final Log log = LogFactory.getLog(RedisLockAutoConfiguration.class);

    @Bean("syncGuardRedisLockBackend")
    RedisLockBackend syncGuardRedisLockBackend(
            SyncGuardProperties properties,
            @SyncGuardRedisConnectionFactory ObjectProvider<RedisConnectionFactory> lockConnections,
            @SyncGuardRedisConnectionFactory ObjectProvider<ReactiveRedisConnectionFactory> reactiveLockConnections,
            ObjectProvider<RedisConnectionFactory> connections,
            ListableBeanFactory beans,
            Environment environment) {
        LockStores.checkOtherMarks(Backend.namedIn(environment), SyncGuardDataSource.class, beans);
        SyncGuardProperties.Redis redis = properties.redis();
        RedisLockBackend backend = new RedisLockBackend(
                new RedisFactories(lockConnections, reactiveLockConnections, connections, beans).choose(),
                redis.settings(properties.fencesOr(FenceSource.CLOCK)),
                environment.getProperty("spring.application.name", ""));
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

    /** Matches if the property names Redis, a bean is marked, or there is no DataSource. */
    static final class OnRedis extends AnyNestedCondition {

        OnRedis() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBackend(NAME)
        static class Chosen {}

        @ConditionalOnBackend(value = NAME, matchIfMissing = true)
        @Conditional(RedisMarked.class)
        static class Marked {}

        @ConditionalOnBackend(value = NAME, matchIfMissing = true)
        @ConditionalOnBean(RedisConnectionFactory.class)
        @ConditionalOnMissingBean(DataSource.class)
        @Conditional(NoDataSourceMarked.class)
        static class Alone {}
    }

    /** Matches if a bean is marked. Boot's own conditions ignore a bean that is no default candidate. */
    static final class RedisMarked implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return isMarked(SyncGuardRedisConnectionFactory.class, context);
        }
    }

    static final class NoDataSourceMarked implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return !isMarked(SyncGuardDataSource.class, context);
        }
    }

    private static boolean isMarked(Class<? extends Annotation> mark, ConditionContext context) {
        return !LockStores.markedWith(mark, Objects.requireNonNull(context.getBeanFactory()))
                .isEmpty();
    }
}
