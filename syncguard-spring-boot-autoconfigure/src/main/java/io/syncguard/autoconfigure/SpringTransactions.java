package io.syncguard.autoconfigure;

import io.syncguard.core.TransactionBoundary;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that Spring has bound to the running thread.
 */
final class SpringTransactions implements TransactionBoundary {

    @Override
    public boolean atEnd(Runnable beforeCommit, Runnable afterCompletion) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                beforeCommit.run();
            }

            @Override
            public void afterCompletion(int status) {
                afterCompletion.run();
            }
        });
        return true;
    }
}
