package io.syncguard.autoconfigure;

import io.syncguard.core.TransactionBoundary;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that Spring has bound to the running thread.
 */
final class SpringTransactions implements TransactionBoundary {

    /**
     * Checks the locks after all synchronizations. Spring does not call {@code beforeCommit} of a synchronization that
     * another {@code beforeCommit} registers, and only logs what {@code beforeCompletion} throws.
     */
    static final TransactionExecutionListener LAST_LOOK = new TransactionExecutionListener() {
        @Override
        public void beforeCommit(TransactionExecution transaction) {
            if (TransactionSynchronizationManager.isSynchronizationActive()) {
                TransactionSynchronizationManager.getSynchronizations().forEach(SpringTransactions::look);
            }
        }
    };

    @Override
    public boolean atEnd(Runnable beforeCommit, Runnable afterCompletion) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        TransactionSynchronizationManager.registerSynchronization(new End(beforeCommit, afterCompletion));
        return true;
    }

    private static void look(TransactionSynchronization synchronization) {
        if (synchronization instanceof End end) {
            end.beforeCommit.run();
        }
    }

    /** Also checks before the commit, for transaction managers without listeners. */
    private static final class End implements TransactionSynchronization {

        private final Runnable beforeCommit;
        private final Runnable afterCompletion;

        End(Runnable beforeCommit, Runnable afterCompletion) {
            this.beforeCommit = beforeCommit;
            this.afterCompletion = afterCompletion;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            beforeCommit.run();
        }

        @Override
        public void afterCompletion(int status) {
            afterCompletion.run();
        }
    }
}
