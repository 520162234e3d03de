package io.syncguard.transaction;

import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/** A transaction manager of the application, and the databases of its transactions. Thread-safe. */
final class GuardedManager {

    private static final String JTA = "org.springframework.transaction.jta.JtaTransactionManager";

    private final PlatformTransactionManager manager;
    private final Supplier<@Nullable DataSource> dataSource;
    private final Supplier<List<DataSource>> all;

    /** @param all the DataSources of the application */
    GuardedManager(PlatformTransactionManager manager, Supplier<List<DataSource>> all) {
        this.manager = manager;
        this.dataSource = SingletonSupplier.ofNullable(() -> dataSourceOf(manager));
        this.all = all;
    }

    /** The DataSource of its transactions; {@code null} if it does not name one. */
    @Nullable
    DataSource dataSource() {
        return dataSource.get();
    }

    /** Whether its transactions may span several databases, each of which they join at their first statement there. */
    boolean isGlobal() {
        for (Class<?> type = manager.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(JTA)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Why its next transaction on the running thread cannot be guarded by the store; {@code null} if it can, as far as
     * that is known before it begins. Asks a connection each time: a router or a tenant of Hibernate may choose another
     * database.
     */
    @Nullable
    String whyNotGuarded(GuardingStore store) {
        LeasePins pins = store.pins();
        List<DataSource> sources = sources();
        if (pins == null || sources.isEmpty()) {
            return whyNotWithoutConnection(store);
        }
        try {
            return JpaTenants.areServedBy(manager) ? JpaTenants.ask(manager, store) : ask(sources, store);
        } catch (SQLException ex) {
            throw TransactionConnection.translate("recognising the database of a transaction", pins, ex);
        }
    }

    /** Why a transaction cannot be guarded that has no connection. */
    String whyNotWithoutConnection(GuardingStore store) {
        return store.whyNotWithoutConnection(manager);
    }

    private static @Nullable String ask(List<DataSource> sources, GuardingStore store) throws SQLException {
        String reason = null;
        for (DataSource source : sources) {
            try (Connection connection = source.getConnection()) {
                reason = store.whyNot(connection);
            }
            if (reason == null) {
                return null;
            }
        }
        return reason;
    }

    private List<DataSource> sources() {
        DataSource own = dataSource();
        return own != null ? List.of(own) : isGlobal() ? all.get() : List.of();
    }

    /**
     * Returns the DataSource of a {@code DataSourceTransactionManager}, {@code JpaTransactionManager} or similar one.
     */
    private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
        BeanWrapperImpl properties = new BeanWrapperImpl(manager);
        return properties.isReadableProperty("dataSource")
                        && properties.getPropertyValue("dataSource") instanceof DataSource found
                ? found
                : null;
    }
}
