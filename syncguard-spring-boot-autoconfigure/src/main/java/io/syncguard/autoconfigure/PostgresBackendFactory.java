package io.syncguard.autoconfigure;

import io.syncguard.jdbc.JdbcPools;
import io.syncguard.postgres.PostgresDatabase;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.FenceSource;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;

/** Creates the stores of an application in PostgreSQL, which differ only in their databases. */
record PostgresBackendFactory(SyncGuardProperties properties, ListableBeanFactory beans, Environment environment) {

    private static final Log log = LogFactory.getLog(PostgresBackendFactory.class);

    /**
     * Creates a store, after it has set up or checked the schema.
     *
     * @param dedicated whether the application uses this DataSource only for locks
     */
    PostgresLockBackend backendOn(DataSource application, boolean dedicated) {
        properties.check();
        SyncGuardProperties.Postgres postgres = properties.postgres();
        PostgresScript script = properties.postgresScript();
        JdbcPools pools = new JdbcPools(
                new PostgresDatabase(),
                application,
                dedicated,
                new JdbcPools.Settings(
                        "syncguard.postgres",
                        postgres.poolSize(),
                        postgres.wakeUps(),
                        postgres.networkTimeout(),
                        environment.getProperty("spring.application.name", "")));
        try {
            PostgresSettings settings = new PostgresSettings(
                    script.tables(),
                    pools.timeout(),
                    PostgresSettings.WAITER_TTL,
                    postgres.cleanupInterval(),
                    postgres.cleanupInIsLocked(),
                    properties.fencesOr(FenceSource.COUNTER));
            PostgresSchema schema = new PostgresSchema(pools.operations(), script, postgres.schemaScript());
            LateDatabase.setUp(application, () -> setUp(schema, pools));
            pools.started();
            log.info(
                    "SyncGuard keeps its locks in the table '" + script.tables().locks() + "' of PostgreSQL, on up to "
                            + pools.maximumConnections() + " connections of its own");
            return new PostgresLockBackend(pools.operations(), pools.engine(), pools.wakeUps(), settings, pools::close);
        } catch (Throwable ex) {
            pools.close();
            if (ex instanceof RuntimeException failure) {
                throw LockStores.explain(failure, application);
            }
            throw ex;
        }
    }

    private void setUp(PostgresSchema schema, JdbcPools pools) {
        switch (properties.postgres().schemaManagement()) {
            case AUTO -> schema.initialize(() -> MigrationDataSources.beside(pools.operations(), beans));
            case INITIALIZE -> schema.initialize();
            case FLYWAY, NONE -> schema.check();
        }
    }
}
