package io.syncguard.autoconfigure;

import io.syncguard.LockManager;
import io.syncguard.integration.SyncGuardLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration's lock registry on the locks of the primary lock manager. A {@code LockRegistry} of the
 * application stays, so that an injection point has to choose between the two.
 */
@AutoConfiguration(after = SyncGuardAutoConfiguration.class)
@ConditionalOnClass(DistributedLock.class)
@ConditionalOnBooleanProperty(name = "syncguard.integration.enabled")
@EnableConfigurationProperties(SyncGuardProperties.class)
public final class SyncGuardIntegrationAutoConfiguration {

    /** In front of each key of the registry. For another one, an application declares its own registry. */
    static final String REGISTRY = "integration";

    static final String REGISTRY_BEAN = "syncGuardLockRegistry";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
    static class LocksConfiguration {

        @Bean
        @ConditionalOnMissingBean
        SyncGuardLockRegistry syncGuardLockRegistry(LockManager lockManager, SyncGuardProperties properties) {
            return new SyncGuardLockRegistry(lockManager, REGISTRY, properties.ttl());
        }
    }

    /** Without distributed locks, the threads of this process still need local ones: aggregators rely on them. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty(name = "syncguard.enabled", havingValue = false)
    static class LocalConfiguration {

        @Bean
        @ConditionalOnMissingBean(LockRegistry.class)
        DefaultLockRegistry syncGuardLockRegistry() {
            return new DefaultLockRegistry();
        }
    }
}
