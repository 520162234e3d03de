package io.syncguard.autoconfigure;

import io.syncguard.portable.PortableScript;
import io.syncguard.postgres.PostgresScript;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;

/** Makes the application's Flyway run the script of its database, if that is chosen. Loaded only with Flyway. */
record DataSourceFlywayScript(SyncGuardProperties properties, ListableBeanFactory beans, Environment environment)
        implements FlywayScript {

    @Override
    public void addTo(FluentConfiguration configuration) {
        // The Flyway of a child context calls this, too.
        if (!FlywayLocations.areUsedIn(beans)) {
            return;
        }
        DataSource migrated = configuration.getDataSource();
        List<Backend> named = Backend.namedIn(environment);
        if (isWanted(PostgresLockAutoConfiguration.NAME, named)
                && properties.postgres().schemaManagement() == SchemaManagement.FLYWAY
                && LockStores.mayBePostgres(migrated)) {
            PostgresScript script = properties.postgresScript();
            FlywayLocations.add(configuration, PostgresScript.LOCATION, script.placeholders());
        }
        if (isWanted(JdbcLockAutoConfiguration.NAME, named)
                && properties.jdbc().schemaManagement() == SchemaManagement.FLYWAY
                && (!named.isEmpty() || !LockStores.mayBePostgres(migrated))) {
            PortableScript script = new JdbcBackendFactory(properties, beans, environment).scriptOf(migrated);
            FlywayLocations.add(
                    configuration, script.location(), script.tables().placeholders());
        }
    }

    private static boolean isWanted(String store, List<Backend> named) {
        return named.isEmpty() || named.contains(new Backend(store));
    }
}
