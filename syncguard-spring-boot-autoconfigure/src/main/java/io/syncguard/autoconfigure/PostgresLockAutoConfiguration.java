package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.spi.LockBackend;
import java.io.File;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.postgresql.Driver;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Stores locks in the PostgreSQL database of the application's {@link DataSource}, or of the one marked with
 * {@link SyncGuardDataSource}, by functions.
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
@Import(DataSourceLocksConfiguration.class)
public final class PostgresLockAutoConfiguration {

    private static final Log log = LogFactory.getLog(PostgresLockAutoConfiguration.class);

    static final String NAME = "postgres";

    /**
     * Writes the script of the schema to the file in {@code syncguard.postgres.schema-script}. Runs before all beans
     * are created, because the application's own migrations may fail if its user may not create tables.
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

    /**
     * Created after the application's migrations, and only for a lock manager that uses it: tenants have their own.
     * With another database than PostgreSQL, it is the store in tables, unless {@code syncguard.backend} names
     * PostgreSQL.
     */
    @Lazy
    @Bean("syncGuardPostgresLockBackend")
    @DependsOnDatabaseInitialization
    LockBackend syncGuardPostgresLockBackend(
            DataSourceStores stores,
            @SyncGuardDataSource ObjectProvider<DataSource> lockDataSource,
            ObjectProvider<DataSource> dataSource) {
        return stores.backendOn(lockDataSource, dataSource, new Backend(NAME));
    }
}
