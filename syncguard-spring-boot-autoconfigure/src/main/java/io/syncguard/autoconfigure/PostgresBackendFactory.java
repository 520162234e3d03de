package io.syncguard.autoconfigure;

import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.FenceSource;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Makes the stores of an application in PostgreSQL, which differ in their databases alone.
 */
record PostgresBackendFactory(SyncGuardProperties properties, PostgresScript script) {

    private static final Log log = LogFactory.getLog(PostgresLockAutoConfiguration.class);

    /**
     * The schema exists when the store does.
     *
     * @param dedicated whether the application has this DataSource for locks alone
     * @param leftToFlyway whether the application's Flyway has created the schema
     */
    PostgresLockBackend backendOn(DataSource application, boolean dedicated, boolean leftToFlyway) {
        properties.check();
        SyncGuardProperties.Postgres postgres = properties.postgres();
        PostgresPools pools = new PostgresPools(
                application, dedicated, postgres.poolSize(), postgres.wakeUps(), postgres.networkTimeout());
        try {
            PostgresSettings settings = new PostgresSettings(
                    script.tables(),
                    pools.timeout(),
                    PostgresSettings.WAITER_TTL,
                    postgres.cleanupInterval(),
                    postgres.cleanupInIsLocked(),
                    postgres.batching(),
                    properties.fencesOr(FenceSource.COUNTER));
            PostgresSchema schema = new PostgresSchema(pools.operations(), script.tables(), script.fences());
            if (leftToFlyway || postgres.schemaManagement() == SchemaManagement.NONE) {
                schema.check();
            } else {
                schema.initialize();
            }
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
}
