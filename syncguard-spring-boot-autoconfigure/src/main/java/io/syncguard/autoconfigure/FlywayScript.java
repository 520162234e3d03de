package io.syncguard.autoconfigure;

import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * A script of the library that the application's Flyway runs. Its type is none of Spring Boot's, whose customizers of
 * Flyway have another package in each generation.
 */
@FunctionalInterface
public interface FlywayScript {

    /** The bean that adds all scripts. Flyway runs none without it. */
    String CUSTOMIZER_BEAN = "syncGuardFlywayConfigurationCustomizer";

    /** Adds the script and its placeholders, unless the library is to create its tables in another way. */
    void addTo(FluentConfiguration configuration);
}
