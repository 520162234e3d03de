package io.syncguard.test.autoconfigure;

import io.syncguard.autoconfigure.Backend;
import io.syncguard.autoconfigure.SyncGuardDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;

/**
 * Replaces locks in a database by locks in memory if that of a slice is no server, such as the embedded one of
 * {@code @JdbcTest}. Only a connection of the {@code DataSource} tells which database it is.
 */
final class OtherDatabasePostProcessor implements InstantiationAwareBeanPostProcessor {

    private static final Log log = LogFactory.getLog(OtherDatabasePostProcessor.class);

    private static final Set<String> REPLACED = Set.of(new Backend("postgres").bean(), new Backend("jdbc").bean());

    private static final Set<String> SERVERS = Set.of("PostgreSQL", "MariaDB", "MySQL");

    private final ConfigurableListableBeanFactory beans;

    OtherDatabasePostProcessor(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public @Nullable Object postProcessBeforeInstantiation(Class<?> type, String name) {
        // A store in memory may have one of the names, too.
        if (!REPLACED.contains(name)
                || !name.equals(beans.getBeanDefinition(name).getFactoryMethodName())
                || beans.getBeanNamesForAnnotation(SyncGuardDataSource.class).length > 0) {
            return null;
        }
        String product = product();
        if (SERVERS.contains(product)) {
            return null;
        }
        log.info("The DataSource of this test leads to " + product + ": SyncGuard keeps its locks in memory");
        return backendInMemory();
    }

    private String product() {
        DataSource dataSource = beans.getBeanProvider(DataSource.class).getIfUnique();
        if (dataSource == null) {
            return "no single database";
        }
        try (Connection connection = dataSource.getConnection()) {
            return connection.getMetaData().getDatabaseProductName();
        } catch (SQLException | RuntimeException ex) {
            log.debug("The product of the DataSource could not be read", ex);
            return "no database";
        }
    }

    /**
     * Its own bean definition is not a candidate for injection, because the backend is injected as the bean that it
     * replaces.
     */
    private Object backendInMemory() {
        BeanDefinitionRegistry registry = (BeanDefinitionRegistry) beans;
        TestLocksRegistrar.register(registry);
        registry.getBeanDefinition(TestLocksRegistrar.BACKEND).setAutowireCandidate(false);
        return beans.getBean(TestLocksRegistrar.BACKEND);
    }
}
