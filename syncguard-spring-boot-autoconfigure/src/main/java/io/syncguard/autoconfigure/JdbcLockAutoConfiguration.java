package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.spi.LockBackend;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * Stores locks in tables of the application's {@link DataSource}, or of the one marked with
 * {@link SyncGuardDataSource}: MariaDB, MySQL, H2, or a database for which there is a
 * {@link io.syncguard.portable.Dialect}.
 */
@AutoConfiguration(before = SyncGuardAutoConfiguration.class, after = PostgresLockAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({HikariDataSource.class, DataSourceUtils.class})
@ConditionalOnBackend(value = JdbcLockAutoConfiguration.NAME, matchIfMissing = true)
@Import(DataSourceLocksConfiguration.class)
public final class JdbcLockAutoConfiguration {

    static final String NAME = "jdbc";

    /** Created after the application's migrations, and only for a lock manager that uses it: tenants have their own. */
    @Lazy
    @Bean("syncGuardJdbcLockBackend")
    @DependsOnDatabaseInitialization
    LockBackend syncGuardJdbcLockBackend(
            DataSourceStores stores,
            @SyncGuardDataSource ObjectProvider<DataSource> lockDataSource,
            ObjectProvider<DataSource> dataSource) {
        return stores.backendOn(lockDataSource, dataSource, new Backend(NAME));
    }
}
