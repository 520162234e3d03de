package io.syncguard.autoconfigure;

import io.syncguard.spi.LockBackend;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;

/**
 * Creates the stores of an application in databases: with functions in PostgreSQL, or in tables of any other database.
 */
record DataSourceStores(SyncGuardProperties properties, ListableBeanFactory beans, Environment environment) {

    /**
     * Creates a store on the marked {@link DataSource}, otherwise on the only or the primary one.
     *
     * @param wanted the store. If {@code syncguard.backend} names none, the product decides instead of PostgreSQL; the
     *     bean of the tables exists then only where PostgreSQL's driver is missing
     */
    LockBackend backendOn(
            ObjectProvider<DataSource> lockDataSource, ObjectProvider<DataSource> dataSource, Backend wanted) {
        List<Backend> named = Backend.namedIn(environment);
        LockStores.checkOtherMarks(named, SyncGuardRedisConnectionFactory.class, beans);
        DataSource application = LockStores.choose(
                lockDataSource,
                dataSource,
                SyncGuardDataSource.class,
                () -> LockStores.noDataSource(named, environment.containsProperty("spring.datasource.url"), beans));
        boolean isOpen = named.isEmpty() && wanted.name().equals(PostgresLockAutoConfiguration.NAME);
        return backendOn(application, lockDataSource.getIfAvailable() != null, isOpen ? null : wanted);
    }

    /** Creates the store of a tenant. */
    LockBackend backendOn(DataSource tenant) {
        return backendOn(
                tenant,
                false,
                Backend.namedIn(environment).stream()
                        .filter(LockStores::isInDataSource)
                        .findFirst()
                        .orElse(null));
    }

    /** @param wanted {@code null} for the store that the product of the database has */
    private LockBackend backendOn(DataSource application, boolean dedicated, @Nullable Backend wanted) {
        return usesFunctions(application, wanted)
                ? new PostgresBackendFactory(properties, beans, environment).backendOn(application, dedicated)
                : new JdbcBackendFactory(properties, beans, environment).backendOn(application, dedicated);
    }

    private static boolean usesFunctions(DataSource application, @Nullable Backend wanted) {
        return wanted == null
                ? LockStores.mayBePostgres(application)
                : wanted.name().equals(PostgresLockAutoConfiguration.NAME);
    }
}
