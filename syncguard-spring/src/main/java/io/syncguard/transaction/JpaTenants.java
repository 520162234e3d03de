package io.syncguard.transaction;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Transaction managers whose persistence unit has a connection provider for tenants: their DataSource is not that of
 * each transaction. Spring ORM may be missing.
 */
final class JpaTenants {

    private static final String PROVIDER = "hibernate.multi_tenant_connection_provider";

    private static final boolean IS_PRESENT = ClassUtils.isPresent(
            "org.springframework.orm.jpa.JpaTransactionManager", JpaTenants.class.getClassLoader());

    private JpaTenants() {}

    static boolean areServedBy(PlatformTransactionManager manager) {
        return IS_PRESENT && Units.haveTenants(manager);
    }

    /** Why the connection of the present tenant cannot be guarded by the store; {@code null} if it can. */
    static @Nullable String ask(PlatformTransactionManager manager, GuardingStore store) throws SQLException {
        return Units.ask((JpaTransactionManager) manager, store);
    }

    private static final class Units {

        static boolean haveTenants(PlatformTransactionManager manager) {
            return manager instanceof JpaTransactionManager jpa
                    && jpa.getEntityManagerFactory() != null
                    && jpa.getEntityManagerFactory().getProperties().containsKey(PROVIDER);
        }

        static @Nullable String ask(JpaTransactionManager manager, GuardingStore store) throws SQLException {
            EntityManagerFactory factory = Objects.requireNonNull(manager.getEntityManagerFactory());
            try (EntityManager entities = factory.createEntityManager()) {
                ConnectionHandle handle = manager.getJpaDialect().getJdbcConnection(entities, true);
                if (handle == null) {
                    return store.whyNotWithoutConnection(manager);
                }
                Connection connection = handle.getConnection();
                try {
                    return store.whyNot(connection);
                } finally {
                    handle.releaseConnection(connection);
                }
            }
        }
    }
}
