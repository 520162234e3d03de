package io.syncguard.autoconfigure;

import io.syncguard.actuate.LockHealth;
import io.syncguard.actuate.LockHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * The health of the locks, {@code syncguard} in {@code /actuator/health}, in Spring Boot 4.
 * {@code management.health.syncguard.enabled=false} turns it off.
 */
@AutoConfiguration(after = SyncGuardAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LockHealth.class)
public final class SyncGuardHealthAutoConfiguration {

    @Bean
    @ConditionalOnEnabledHealthIndicator("syncguard")
    @ConditionalOnMissingBean(name = "syncguardHealthIndicator")
    LockHealthIndicator syncguardHealthIndicator(LockHealth locks) {
        return new LockHealthIndicator(locks);
    }
}
