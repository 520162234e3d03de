package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.core.GuardedBodies;
import io.syncguard.core.GuardedLease;
import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.function.SingletonSupplier;

/**
 * Guards the commits of one transaction manager. Runs right before the commit, after all synchronizations and all other
 * listeners. A synchronization could not do this, because Spring does not call {@code beforeCommit} of a
 * synchronization that another {@code beforeCommit} registers, and only logs what {@code beforeCompletion} throws.
 */
final class TransactionListener implements TransactionExecutionListener {

    private final PlatformTransactionManager manager;
    private final Supplier<@Nullable DataSource> dataSource;

    /** The engines that have recognised the DataSource as one of their database. */
    private final Set<SpringTransactions> recognised = ConcurrentHashMap.newKeySet();

    TransactionListener(PlatformTransactionManager manager) {
        this.manager = manager;
        this.dataSource = SingletonSupplier.ofNullable(() -> dataSourceOf(manager));
    }

    /** Refuses a transaction that cannot be guarded. A later exception would leave the transaction open. */
    @Override
    public void beforeBegin(TransactionExecution transaction) {
        if (transaction.isReadOnly()) {
            return;
        }
        for (GuardedLease lease : GuardedBodies.leases()) {
            if (lease.guard() == CommitGuard.REQUIRED
                    && lease.transactions() instanceof SpringTransactions transactions) {
                requireGuard(lease, transactions);
            }
        }
    }

    /** A nested transaction that is a savepoint belongs to the one around it. */
    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        if (failure == null && transaction.isNewTransaction()) {
            GuardedTransaction.begin(transaction, dataSource.get());
        }
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        GuardedTransaction guard = OpenTransactions.find(transaction);
        if (guard != null) {
            guard.beforeCompletion();
            guard.guard();
        }
    }

    /** Transactions without synchronizations have no other call before it. */
    @Override
    public void beforeRollback(TransactionExecution transaction) {
        GuardedTransaction guard = OpenTransactions.find(transaction);
        if (guard != null) {
            guard.beforeCompletion();
        }
    }

    private void requireGuard(GuardedLease lease, SpringTransactions transactions) {
        if (recognised.contains(transactions)) {
            return;
        }
        String reason = whyNotGuarded(transactions);
        if (reason != null) {
            throw SpringTransactions.refused(lease.key(), reason);
        }
        recognised.add(transactions);
    }

    private @Nullable String whyNotGuarded(SpringTransactions transactions) {
        DataSource source = dataSource.get();
        if (source == null) {
            return "its transaction manager, a " + manager.getClass().getSimpleName() + ", has no DataSource";
        }
        LeasePins pins = transactions.pins();
        if (pins == null) {
            return transactions.withoutPins();
        }
        try (Connection connection = source.getConnection()) {
            return transactions.whyNotGuarded(connection);
        } catch (SQLException ex) {
            throw TransactionConnection.translate("recognising the database of a transaction", pins, ex);
        }
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
