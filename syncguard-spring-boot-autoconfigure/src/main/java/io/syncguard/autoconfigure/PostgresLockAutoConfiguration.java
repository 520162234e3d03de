package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.flywaydb.core.Flyway;
import org.postgresql.Driver;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Stores locks in the PostgreSQL database of the application's {@link DataSource}, or of the one marked with
 * {@link SyncGuardDataSource}.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration",
            "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({HikariDataSource.class, Driver.class})
@Conditional(PostgresLockAutoConfiguration.OnPostgres.class)
@ConditionalOnMissingBean(value = LockBackend.class, ignored = RedisLockBackend.class)
@EnableConfigurationProperties(SyncGuardProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class)
public final class PostgresLockAutoConfiguration {

    private static final Log log = LogFactory.getLog(PostgresLockAutoConfiguration.class);

    @Bean
    static PostgresScriptWriter syncGuardPostgresScriptWriter(Environment environment) {
        return new PostgresScriptWriter(environment);
    }

    @Bean
    PostgresScript syncGuardPostgresScript(SyncGuardProperties properties) {
        return properties.postgresScript();
    }

    /** Made after the application's migrations. The schema exists when the bean does. */
    @Bean(Backend.POSTGRES_BEAN)
    @DependsOnDatabaseInitialization
    PostgresLockBackend syncGuardPostgresLockBackend(
            SyncGuardProperties properties,
            PostgresScript script,
            @SyncGuardDataSource ObjectProvider<DataSource> lockDataSource,
            ObjectProvider<DataSource> dataSource,
            ListableBeanFactory beans) {
        SyncGuardProperties.Postgres postgres = properties.postgres();
        FenceSettings fences = properties.fencesOr(FenceSource.COUNTER);
        DataSource application = LockStores.choose(
                lockDataSource, dataSource, SyncGuardDataSource.class, () -> LockStores.none("there is no DataSource"));
        PostgresPools pools =
                new PostgresPools(application, postgres.poolSize(), postgres.wakeUps(), postgres.networkTimeout());
        try {
            PostgresSettings settings = new PostgresSettings(
                    script.tables(),
                    pools.timeout(),
                    PostgresSettings.WAITER_TTL,
                    postgres.cleanupInterval(),
                    postgres.cleanupInIsLocked(),
                    postgres.batching(),
                    fences);
            SchemaManagement management = postgres.schemaManagement();
            boolean leftToFlyway = management.isLeftToFlyway(
                    FlywayLocations.areUsedIn(beans), lockDataSource.getIfAvailable() != null);
            prepare(new PostgresSchema(pools.operations(), script.tables(), script.fences()), management, leftToFlyway);
            log.info(
                    "SyncGuard keeps its locks in the table '" + script.tables().locks() + "' of PostgreSQL, on up to "
                            + pools.maximumConnections() + " connections of its own");
            return new PostgresLockBackend(pools.operations(), pools.engine(), pools.wakeUps(), settings, pools::close);
        } catch (RuntimeException ex) {
            pools.close();
            throw LockStores.explain(ex, application);
        }
    }

    private static void prepare(PostgresSchema schema, SchemaManagement management, boolean leftToFlyway) {
        if (leftToFlyway || management == SchemaManagement.NONE) {
            schema.check();
        } else {
            schema.initialize();
        }
    }

    /** Matches if PostgreSQL is chosen, or if no backend is chosen and no other backend was configured before. */
    static final class OnPostgres extends AnyNestedCondition {

        OnPostgres() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBackend(Backend.POSTGRES)
        static class Chosen {}

        @ConditionalOnBackend(value = Backend.POSTGRES, matchIfMissing = true)
        @ConditionalOnMissingBean(LockBackend.class)
        static class Left {}
    }

    /** Has the application's Flyway run the script. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Flyway.class)
    static class FlywayConfiguration {

        @Bean
        FlywayScript syncGuardFlywayScript(
                SyncGuardProperties properties,
                PostgresScript script,
                @SyncGuardDataSource ObjectProvider<DataSource> lockDataSource) {
            SchemaManagement management = properties.postgres().schemaManagement();
            return configuration -> {
                if (!management.isLeftToFlyway(true, lockDataSource.getIfAvailable() != null)) {
                    return;
                }
                LockStores.requirePostgres(configuration.getDataSource());
                FlywayLocations.add(configuration, PostgresScript.LOCATION, script.placeholders());
            };
        }
    }
}
