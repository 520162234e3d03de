package io.syncguard.autoconfigure;

import io.syncguard.actuate.EventJournal;
import io.syncguard.actuate.SyncGuardEndpoint;
import io.syncguard.actuate.SyncGuardEndpointWebExtension;
import io.syncguard.leader.LeaderElection;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The actuator endpoint {@code syncguard}. */
@AutoConfiguration(after = {SyncGuardAutoConfiguration.class, SyncGuardLeaderAutoConfiguration.class})
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockEngineFactory.class)
@EnableConfigurationProperties(SyncGuardEndpointProperties.class)
public final class SyncGuardEndpointAutoConfiguration {

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = SyncGuardEndpoint.class)
    @ConditionalOnMissingBean
    EventJournal syncGuardEventJournal() {
        return new EventJournal();
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnMissingBean
    SyncGuardEndpoint syncGuardEndpoint(
            ListableBeanFactory beans,
            ObjectProvider<LeaderElection> election,
            EventJournal journal,
            SyncGuardEndpointProperties properties) {
        return new SyncGuardEndpoint(LockEngines.of(beans), election::getIfAvailable, journal, properties.showValues());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(SyncGuardEndpoint.class)
    @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
    SyncGuardEndpointWebExtension syncGuardEndpointWebExtension(
            SyncGuardEndpoint endpoint, SyncGuardEndpointProperties properties) {
        return new SyncGuardEndpointWebExtension(endpoint, properties.showValues(), properties.roles());
    }
}
