package io.syncguard.jdbc;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction synchronizations of the caller's thread. They are set aside for the length of a call, as a
 * transaction manager does when it suspends a transaction. With them, Spring's code inside the call would bind its
 * connection until the caller's transaction ends; without them, it returns the connection at once.
 *
 * <p>The caller's transaction itself goes on, and its resources stay bound: no synchronization is called.
 */
final class CallerSynchronizations {

    private final List<TransactionSynchronization> synchronizations;
    private final @Nullable String name;
    private final @Nullable Integer isolation;
    private final boolean readOnly;
    private final boolean active;

    private CallerSynchronizations() {
        synchronizations = TransactionSynchronizationManager.getSynchronizations();
        name = TransactionSynchronizationManager.getCurrentTransactionName();
        isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
        readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        active = TransactionSynchronizationManager.isActualTransactionActive();
        TransactionSynchronizationManager.clear();
    }

    /** Runs a call as if this thread were in no transaction. */
    static <T extends @Nullable Object> T setAside(Supplier<T> call) {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            return call.get();
        }
        CallerSynchronizations caller = new CallerSynchronizations();
        try {
            return call.get();
        } finally {
            caller.restore();
        }
    }

    /** Registers them in the order in which Spring calls them. */
    private void restore() {
        TransactionSynchronizationManager.clear();
        TransactionSynchronizationManager.initSynchronization();
        synchronizations.forEach(TransactionSynchronizationManager::registerSynchronization);
        TransactionSynchronizationManager.setCurrentTransactionName(name);
        TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(isolation);
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
        TransactionSynchronizationManager.setActualTransactionActive(active);
    }
}
