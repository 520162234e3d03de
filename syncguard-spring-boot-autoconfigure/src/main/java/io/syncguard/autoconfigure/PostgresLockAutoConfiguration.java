package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresScript;
import java.io.File;
import java.util.List;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.flywaydb.core.Flyway;
import org.postgresql.Driver;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Stores locks in the PostgreSQL database of the application's {@link DataSource}, or of the one marked with
 * {@link SyncGuardDataSource}.
 */
@AutoConfiguration(
        before = SyncGuardAutoConfiguration.class,
        after = RedisLockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration",
            "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({HikariDataSource.class, Driver.class})
@ConditionalOnBackend(value = PostgresLockAutoConfiguration.NAME, matchIfMissing = true)
@EnableConfigurationProperties(SyncGuardProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class)
public final class PostgresLockAutoConfiguration {

    private static final Log log = LogFactory.getLog(PostgresLockAutoConfiguration.class);

    static final String NAME = "postgres";

    /**
     * Writes the script of the schema to the file in {@code syncguard.postgres.schema-script}. Runs before all beans are
     * created, because the application's own migrations may fail if its user may not create tables.
     */
    @Bean
    static BeanFactoryPostProcessor syncGuardPostgresScriptWriter(Environment environment) {
        return beans -> {
            SyncGuardProperties properties =
                    Binder.get(environment).bindOrCreate("syncguard", SyncGuardProperties.class);
            File file = properties.postgres().schemaScript();
            if (file != null) {
                properties.postgresScript().writeTo(file.toPath());
                log.info("Wrote the script for the tables of SyncGuard to " + file.getAbsolutePath());
            }
        };
    }

    @Bean
    PostgresScript syncGuardPostgresScript(SyncGuardProperties properties) {
        return properties.postgresScript();
    }

    @Bean
    PostgresBackendFactory syncGuardPostgresBackendFactory(
            SyncGuardProperties properties, PostgresScript script, ListableBeanFactory beans, Environment environment) {
        return new PostgresBackendFactory(properties, script, beans, environment);
    }

    /** Created after the application's migrations, and only for a lock manager that uses it: tenants have their own. */
    @Lazy
    @Bean("syncGuardPostgresLockBackend")
    @DependsOnDatabaseInitialization
    PostgresLockBackend syncGuardPostgresLockBackend(
            PostgresBackendFactory stores,
            @SyncGuardDataSource ObjectProvider<DataSource> lockDataSource,
            ObjectProvider<DataSource> dataSource,
            ListableBeanFactory beans,
            Environment environment) {
        List<Backend> named = Backend.namedIn(environment);
        LockStores.checkOtherMarks(named, SyncGuardRedisConnectionFactory.class, beans);
        DataSource application = LockStores.choose(
                lockDataSource,
                dataSource,
                SyncGuardDataSource.class,
                () -> LockStores.noDataSource(named, environment.containsProperty("spring.datasource.url"), beans));
        return stores.backendOn(application, lockDataSource.getIfAvailable() != null);
    }

    /** Created after the migrations, because Flyway refuses a schema in which somebody else has created tables. */
    @Bean
    @DependsOnDatabaseInitialization
    PostgresLockManagers syncGuardPostgresLockManagers(PostgresBackendFactory stores, LockEngineFactory engines) {
        return new PostgresLockManagers(tenant -> engines.engineOn(stores.backendOn(tenant, false)));
    }

    @Bean
    TenantEngines syncGuardPostgresTenantEngines(PostgresLockManagers managers) {
        return managers::engines;
    }

    /** Makes the application's Flyway run the script, if that is chosen. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Flyway.class)
    static class FlywayConfiguration {

        @Bean
        FlywayScript syncGuardFlywayScript(SyncGuardProperties properties, ListableBeanFactory beans) {
            PostgresScript script = properties.postgresScript();
            return configuration -> {
                // The Flyway of a child context calls this, too.
                if (properties.postgres().schemaManagement() == SchemaManagement.FLYWAY
                        && FlywayLocations.areUsedIn(beans)
                        && LockStores.mayBePostgres(configuration.getDataSource())) {
                    FlywayLocations.add(configuration, PostgresScript.LOCATION, script.placeholders());
                }
            };
        }
    }
}
