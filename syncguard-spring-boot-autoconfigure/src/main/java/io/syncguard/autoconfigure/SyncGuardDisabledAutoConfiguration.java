package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockAdmin;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.OneLine;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.postgresql.Driver;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * A manager and a template that run code without locks, so that an application that injects them starts with
 * {@code syncguard.enabled=false}, too. Where {@code syncguard.backend} names a backend, its name is a qualifier.
 */
@AutoConfiguration
@Conditional(SyncGuardDisabledAutoConfiguration.ReadableSwitch.class)
@ConditionalOnBooleanProperty(name = "syncguard.enabled", havingValue = false)
public final class SyncGuardDisabledAutoConfiguration {

    private static final Log log = LogFactory.getLog(SyncGuardDisabledAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean
    LockManager syncGuardLockManager() {
        log.info("SyncGuard is disabled by syncguard.enabled=false: LockTemplate and annotated methods run their bodies"
                + " without locks");
        return LockManager.withoutLocks();
    }

    @Bean
    @ConditionalOnMissingBean
    LockTemplate syncGuardLockTemplate(LockManager lockManager) {
        return new LockTemplate(lockManager);
    }

    @Bean
    @ConditionalOnMissingBean
    LockAdmin syncGuardLockAdmin(ObjectProvider<LockManager> lockManager) {
        return LockManager.routing(lockManager::getObject).admin();
    }

    /**
     * Refuses other values than true and false, with which Spring Boot would configure neither these beans nor the
     * locks.
     */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static final class ReadableSwitch implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            String enabled = context.getEnvironment().getProperty("syncguard.enabled", "true");
            if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
                throw LockSetupException.invalid(
                        "syncguard.enabled is '" + OneLine.of(enabled) + "', but has to be true or false",
                        "Correct syncguard.enabled");
            }
            return true;
        }
    }

    /** Keeps the script for Flyway, which fails if it does not find a script that it has run before. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HikariDataSource.class, Driver.class})
    @ConditionalOnBackend(value = Backend.POSTGRES, matchIfMissing = true)
    @ConditionalOnProperty(name = "syncguard.postgres.schema-management", havingValue = "flyway")
    @EnableConfigurationProperties(SyncGuardProperties.class)
    @Import(PostgresLockAutoConfiguration.FlywayConfiguration.class)
    static class FlywayHistoryConfiguration {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackend(Backend.POSTGRES)
    static class PostgresConfiguration {

        @Bean(defaultCandidate = false)
        @Qualifier("postgres")
        LockManager syncGuardPostgresLockManager() {
            return LockManager.withoutLocks();
        }

        @Bean(defaultCandidate = false)
        @Qualifier("postgres")
        LockTemplate syncGuardPostgresLockTemplate(@Qualifier("postgres") LockManager manager) {
            return new LockTemplate(manager);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackend(Backend.REDIS)
    static class RedisConfiguration {

        @Bean(defaultCandidate = false)
        @Qualifier("redis")
        LockManager syncGuardRedisLockManager() {
            return LockManager.withoutLocks();
        }

        @Bean(defaultCandidate = false)
        @Qualifier("redis")
        LockTemplate syncGuardRedisLockTemplate(@Qualifier("redis") LockManager manager) {
            return new LockTemplate(manager);
        }
    }
}
