package io.syncguard.autoconfigure;

import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A manager and a template that run code without locks, so that an application that injects them starts with
 * {@code syncguard.enabled=false}, too. Where {@code syncguard.backend} names a backend, its name is a qualifier.
 */
@AutoConfiguration
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
