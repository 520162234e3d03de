package io.syncguard.autoconfigure;

import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.flyway.autoconfigure.FlywayConfigurationCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/** Makes the application's Flyway run the scripts of the library, in Spring Boot 4. */
@AutoConfiguration
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass({Flyway.class, FlywayConfigurationCustomizer.class})
@ConditionalOnBean(FlywayScript.class)
public final class SyncGuardFlywayAutoConfiguration {

    @Bean(FlywayScript.CUSTOMIZER_BEAN)
    FlywayConfigurationCustomizer syncGuardFlywayConfigurationCustomizer(ObjectProvider<FlywayScript> scripts) {
        return configuration -> scripts.forEach(script -> script.addTo(configuration));
    }
}
