package io.syncguard.autoconfigure;

import io.syncguard.jdbc.JdbcPools;
import io.syncguard.portable.Dialect;
import io.syncguard.portable.PortableLockBackend;
import io.syncguard.portable.PortableSchema;
import io.syncguard.portable.PortableScript;
import io.syncguard.portable.PortableSettings;
import io.syncguard.spi.FenceSource;
import java.io.File;
import java.util.List;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;

/** Creates the stores of an application in tables of any database. */
record JdbcBackendFactory(SyncGuardProperties properties, ListableBeanFactory beans, Environment environment) {

    private static final Log log = LogFactory.getLog(JdbcBackendFactory.class);

    /**
     * Creates a store, after it has set up or checked the tables.
     *
     * @param dedicated whether the application uses this DataSource only for locks
     */
    PortableLockBackend backendOn(DataSource application, boolean dedicated) {
        properties.check();
        SyncGuardProperties.Jdbc jdbc = properties.jdbc();
        PortableScript script = scriptOf(application);
        File file = jdbc.schemaScript();
        if (file != null) {
            script.writeTo(file.toPath());
            log.info("Wrote the script for the tables of SyncGuard to " + file.getAbsolutePath());
        }
        JdbcPools pools = new JdbcPools(
                script.dialect(),
                application,
                dedicated,
                new JdbcPools.Settings(
                        "syncguard.jdbc",
                        jdbc.poolSize(),
                        false,
                        jdbc.networkTimeout(),
                        environment.getProperty("spring.application.name", "")));
        try {
            PortableSettings settings = new PortableSettings(
                    pools.timeout(),
                    PortableSettings.WAITER_TTL,
                    jdbc.cleanupInterval(),
                    properties.fencesOr(FenceSource.COUNTER).source());
            PortableSchema schema = new PortableSchema(pools.operations(), script, file);
            LateDatabase.setUp(application, () -> setUp(schema, pools));
            pools.started();
            log.info("SyncGuard keeps its locks in the tables " + script.tables() + " of "
                    + LockStores.productOf(application) + ", on up to " + pools.maximumConnections()
                    + " connections of its own");
            return new PortableLockBackend(
                    pools.operations(), pools.engine(), script.dialect(), script.tables(), settings, pools::close);
        } catch (Throwable ex) {
            pools.close();
            throw ex;
        }
    }

    private void setUp(PortableSchema schema, JdbcPools pools) {
        switch (properties.jdbc().schemaManagement()) {
            case AUTO -> schema.initialize(() -> MigrationDataSources.beside(pools.operations(), beans));
            case INITIALIZE -> schema.initialize(List::of);
            case FLYWAY, NONE -> schema.check();
        }
    }

    /** Returns the script for the product of this DataSource. */
    PortableScript scriptOf(DataSource dataSource) {
        String product = LockStores.productOf(dataSource);
        PortableScript script = PortableScript.of(
                product,
                beans.getBeanProvider(Dialect.class).orderedStream().toList(),
                properties.jdbc().tables());
        if (script == null) {
            throw LockStores.noDialect(product);
        }
        return script;
    }
}
