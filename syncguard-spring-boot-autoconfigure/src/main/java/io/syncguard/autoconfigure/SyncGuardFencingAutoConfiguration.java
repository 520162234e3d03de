package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.fencing.FenceSchema;
import io.syncguard.jdbc.DataSourceTarget;
import io.syncguard.jdbc.MockDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * The {@link FenceGuard} of the primary {@link DataSource}, and its table. It works without locks in the same
 * application: a service may check the fences that others send.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration",
            "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.fencing.enabled")
@ConditionalOnClass(DataSourceUtils.class)
@EnableConfigurationProperties(SyncGuardProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class)
public final class SyncGuardFencingAutoConfiguration {

    /** Created after the application's migrations, and after its table. */
    @Bean
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    FenceGuard syncGuardFenceGuard(
            SyncGuardProperties properties, ObjectProvider<DataSource> dataSource, ListableBeanFactory beans) {
        SyncGuardProperties.Fencing fencing = properties.fencing();
        properties.postgresScript().tables().requireAnother("syncguard.fencing.table", fencing.table());
        DataSource primary = primary(dataSource);
        FenceSchema schema = new FenceSchema(primary, fencing.table());
        try {
            switch (fencing.schemaManagement()) {
                case AUTO -> schema.initialize(() -> MigrationDataSources.beside(primary, beans));
                case INITIALIZE -> schema.initialize();
                case FLYWAY, NONE -> schema.check();
            }
        } catch (NullPointerException ex) {
            MockDataSource.refuse(primary);
            throw ex;
        }
        return new FenceGuard(primary, fencing.table());
    }

    private static DataSource primary(ObjectProvider<DataSource> dataSource) {
        try {
            return dataSource.getIfAvailable(() -> {
                throw LockSetupException.invalid(
                        "syncguard.fencing.enabled needs a DataSource, and there is none",
                        "Set spring.datasource.url",
                        "Leave syncguard.fencing.enabled out");
            });
        } catch (NoUniqueBeanDefinitionException ex) {
            throw LockSetupException.invalid(
                    "syncguard.fencing.enabled needs a primary DataSource, and there are " + LockStores.namesOf(ex),
                    "Make one of them @Primary",
                    "Leave syncguard.fencing.enabled out, and declare a FenceGuard bean");
        }
    }

    /** Makes the application's Flyway run the script of its database, if that is chosen. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Flyway.class)
    @ConditionalOnMissingBean(FenceGuard.class)
    static class FlywayConfiguration {

        private static final Set<DatabaseDriver> KNOWN =
                EnumSet.of(DatabaseDriver.POSTGRESQL, DatabaseDriver.MYSQL, DatabaseDriver.MARIADB, DatabaseDriver.H2);

        @Bean
        FlywayScript syncGuardFencesFlywayScript(SyncGuardProperties properties, ListableBeanFactory beans) {
            SyncGuardProperties.Fencing fencing = properties.fencing();
            return configuration -> {
                // The Flyway of a child context calls this, too.
                if (fencing.schemaManagement() == SchemaManagement.FLYWAY && FlywayLocations.areUsedIn(beans)) {
                    FlywayLocations.add(
                            configuration,
                            FenceSchema.location(productOf(configuration.getDataSource())),
                            Map.of(FenceSchema.PLACEHOLDER, fencing.table()));
                }
            };
        }

        /**
         * Does not connect if the URL of a pool names the product, because Flyway may be set to wait for the server.
         */
        private static String productOf(DataSource dataSource) {
            DatabaseDriver driver = DatabaseDriver.fromJdbcUrl(DataSourceTarget.urlOf(dataSource));
            if (KNOWN.contains(driver)) {
                return driver.getId();
            }
            try (Connection connection = dataSource.getConnection()) {
                return connection.getMetaData().getDatabaseProductName();
            } catch (SQLException ex) {
                throw new CannotGetJdbcConnectionException(
                        "Flyway's DataSource could not be asked for its product", ex);
            }
        }
    }
}
