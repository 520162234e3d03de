package io.syncguard.autoconfigure;

import io.syncguard.leader.LeaderElection;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Shows in the actuator where locks are stored, and which elections this process leads.
 * {@code management.info.syncguard.enabled=false} turns it off.
 */
@AutoConfiguration(after = SyncGuardLeaderAutoConfiguration.class)
@ConditionalOnClass({InfoContributor.class, ConditionalOnEnabledInfoContributor.class})
@ConditionalOnBean(LockEngineFactory.class)
@EnableConfigurationProperties(SyncGuardInfoProperties.class)
public final class SyncGuardInfoAutoConfiguration {

    @Bean
    @ConditionalOnEnabledInfoContributor("syncguard")
    @ConditionalOnMissingBean
    StoreInfoContributor syncGuardStoreInfo(ListableBeanFactory beans, SyncGuardInfoProperties properties) {
        return new StoreInfoContributor(LockEngines.of(beans), properties.showOwner());
    }

    @Bean
    @ConditionalOnEnabledInfoContributor("syncguard")
    @ConditionalOnBean(LeaderElection.class)
    @ConditionalOnMissingBean
    LeaderInfo syncGuardLeaderInfo(LeaderElection election) {
        return new LeaderInfo(election);
    }
}
