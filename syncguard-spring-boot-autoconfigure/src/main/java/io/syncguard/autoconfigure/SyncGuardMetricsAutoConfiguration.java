package io.syncguard.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.micrometer.LeaderMeters;
import io.syncguard.micrometer.LockMeters;
import io.syncguard.micrometer.StoreMeters;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Meters for locks and leaders, if the application has a registry.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class SyncGuardMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockMeters syncGuardLockMeters(MeterRegistry registry) {
        return new LockMeters(registry);
    }

    @Bean
    @ConditionalOnMissingBean
    StoreMeters syncGuardStoreMeters(MeterRegistry registry) {
        return new StoreMeters(registry);
    }

    /** For the locks of this context, whichever context has the meters. */
    @Bean
    PreparedMeters syncGuardPreparedMeters(
            LockMeters meters,
            StoreMeters stores,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<DistributedLockAdvisor> advisors,
            ObjectProvider<LocksProperties> settings) {
        return new PreparedMeters(meters, stores, beans, advisors, settings);
    }

    @Bean
    @ConditionalOnMissingBean
    LeaderMeters syncGuardLeaderMeters(MeterRegistry registry) {
        return new LeaderMeters(registry);
    }
}
