package io.syncguard.autoconfigure;

import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockSetupException;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.SpringTransactions;
import java.lang.management.ManagementFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;

/**
 * Creates the engines of an application, which differ only in their stores.
 *
 * @param properties the settings of all engines
 * @param locks settings by the names of locks
 */
record LockEngineFactory(
        SyncGuardProperties properties,
        LocksProperties locks,
        LockListeners listeners,
        ObjectProvider<LockObserver> observer,
        ObjectProvider<TransactionBoundary> transactions,
        Environment environment) {

    /** Creates an engine, which closes the store at its end. */
    LockEngine engineOn(LockBackend store) {
        return new LockEngine(
                store,
                properties.engineSettings(ownerIn(properties, environment), locks.settings()),
                transactions.getIfAvailable(
                        () -> new SpringTransactions(store.info().name(), store.pins(), properties.commitGuard())),
                listeners.all(),
                observer.getIfAvailable(() -> LockObserver.NONE));
    }

    /** The label of this process: the property, or one that begins with the name of the application. */
    static String ownerIn(SyncGuardProperties properties, Environment environment) {
        if (properties.owner() != null) {
            return properties.owner();
        }
        String application = environment.getProperty("spring.application.name", "application");
        try {
            return LockLimits.owner(
                    application + "@" + ManagementFactory.getRuntimeMXBean().getName());
        } catch (LockException ex) {
            throw LockSetupException.invalid(
                    "spring.application.name cannot begin the label of this process. " + ex.getMessage(),
                    "Set syncguard.owner",
                    "Correct spring.application.name");
        }
    }
}
