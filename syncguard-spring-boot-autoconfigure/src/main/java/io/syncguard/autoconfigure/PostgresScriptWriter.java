package io.syncguard.autoconfigure;

import java.io.File;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Writes the script of the schema to the file in {@code syncguard.postgres.schema-script}. Runs before all beans are
 * created, because the application's own migrations may fail if its user may not create tables.
 */
final class PostgresScriptWriter implements BeanFactoryPostProcessor {

    private static final Log log = LogFactory.getLog(PostgresScriptWriter.class);

    private final Environment environment;

    PostgresScriptWriter(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        SyncGuardProperties properties = Binder.get(environment).bindOrCreate("syncguard", SyncGuardProperties.class);
        File file = properties.postgres().schemaScript();
        if (file != null) {
            properties.postgresScript().writeTo(file.toPath());
            log.info("Wrote the script for the tables of SyncGuard to " + file.getAbsolutePath());
        }
    }
}
