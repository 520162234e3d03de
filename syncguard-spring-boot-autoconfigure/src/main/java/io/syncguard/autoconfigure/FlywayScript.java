package io.syncguard.autoconfigure;

import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * A script of the library that the application's Flyway runs. The library has its own type for it, because Spring
 * Boot's customizers of Flyway have another package in each generation.
 */
@FunctionalInterface
public interface FlywayScript {

    /** The name of the bean that adds all scripts. Without it, Flyway runs none. */
    String CUSTOMIZER_BEAN = "syncGuardFlywayConfigurationCustomizer";

    /** Adds the script and its placeholders, unless the tables are created in another way. */
    void addTo(FluentConfiguration configuration);
}
