package io.syncguard.boot3;

import io.syncguard.actuate.LockHealth;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * The health of the locks, {@code syncguard} in {@code /actuator/health}, in Spring Boot 3.
 * {@code management.health.syncguard.enabled=false} turns it off.
 */
@AutoConfiguration(after = SyncGuardAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LockHealth.class)
public final class SyncGuardBoot3HealthAutoConfiguration {

    @Bean
    @ConditionalOnEnabledHealthIndicator("syncguard")
    @ConditionalOnMissingBean(name = "syncguardHealthIndicator")
    Boot3LockHealthIndicator syncguardHealthIndicator(LockHealth locks) {
        return new Boot3LockHealthIndicator(locks);
    }
}
