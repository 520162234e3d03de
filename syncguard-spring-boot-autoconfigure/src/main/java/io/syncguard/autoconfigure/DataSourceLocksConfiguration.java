package io.syncguard.autoconfigure;

import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** What both stores on a {@code DataSource} have. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(SyncGuardProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class)
final class DataSourceLocksConfiguration {

    @Bean
    DataSourceStores syncGuardDataSourceStores(
            SyncGuardProperties properties, ListableBeanFactory beans, Environment environment) {
        return new DataSourceStores(properties, beans, environment);
    }

    /** Created after the migrations, because Flyway refuses a schema in which somebody else has created tables. */
    @Bean
    @DependsOnDatabaseInitialization
    JdbcLockManagers syncGuardJdbcLockManagers(DataSourceStores stores, LockEngineFactory engines) {
        return new JdbcLockManagers(tenant -> engines.engineOn(stores.backendOn(tenant)));
    }

    @Bean
    TenantEngines syncGuardJdbcTenantEngines(JdbcLockManagers managers) {
        return managers::engines;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Flyway.class)
    static class FlywayConfiguration {

        @Bean
        FlywayScript syncGuardFlywayScript(
                SyncGuardProperties properties, ListableBeanFactory beans, Environment environment) {
            return new DataSourceFlywayScript(properties, beans, environment);
        }
    }
}
