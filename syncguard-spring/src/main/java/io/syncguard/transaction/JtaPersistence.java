package io.syncguard.transaction;

import jakarta.persistence.spi.PersistenceUnitInfo;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The persistence contexts of the running thread whose transactions are those of JTA. They take their connections from
 * their DataSource themselves, so Spring binds none. Spring ORM may be missing.
 */
final class JtaPersistence {

    private static final boolean IS_PRESENT = ClassUtils.isPresent(
            "org.springframework.orm.jpa.EntityManagerFactoryInfo", JtaPersistence.class.getClassLoader());

    private JtaPersistence() {}

    /** The DataSources of the persistence contexts. */
    static Set<DataSource> dataSources() {
        Set<DataSource> found = new LinkedHashSet<>();
        if (IS_PRESENT) {
            TransactionSynchronizationManager.getResourceMap().keySet().forEach(key -> Units.add(key, found));
        }
        return found;
    }

    private static final class Units {

        static void add(Object key, Set<DataSource> found) {
            if (key instanceof EntityManagerFactoryInfo factory) {
                PersistenceUnitInfo unit = factory.getPersistenceUnitInfo();
                if (unit != null && unit.getJtaDataSource() != null) {
                    found.add(unit.getJtaDataSource());
                }
            }
        }
    }
}
