package io.syncguard.boot3;

import io.syncguard.autoconfigure.FlywayScript;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardDisabledAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardFencingAutoConfiguration;
import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.flyway.FlywayConfigurationCustomizer;
import org.springframework.context.annotation.Bean;

/**
 * Adds the scripts of the library to the application's Flyway, in Spring Boot 3.
 */
@AutoConfiguration(
        after = {
            PostgresLockAutoConfiguration.class,
            SyncGuardDisabledAutoConfiguration.class,
            SyncGuardFencingAutoConfiguration.class
        })
@ConditionalOnClass({Flyway.class, FlywayConfigurationCustomizer.class})
@ConditionalOnBean(FlywayScript.class)
public final class SyncGuardBoot3FlywayAutoConfiguration {

    @Bean(FlywayScript.CUSTOMIZER_BEAN)
    FlywayConfigurationCustomizer syncGuardFlywayConfigurationCustomizer(ObjectProvider<FlywayScript> scripts) {
        return configuration -> scripts.forEach(script -> script.addTo(configuration));
    }
}
