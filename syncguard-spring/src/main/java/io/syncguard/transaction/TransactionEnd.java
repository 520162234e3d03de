package io.syncguard.transaction;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * Ends the guards of transactions. Runs before all other listeners, because Spring calls none after one that throws.
 */
final class TransactionEnd implements TransactionExecutionListener {

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
        OpenTransactions.end(
                transaction,
                failure == null
                        ? TransactionSynchronization.STATUS_COMMITTED
                        : TransactionSynchronization.STATUS_UNKNOWN);
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
        OpenTransactions.end(transaction, TransactionSynchronization.STATUS_ROLLED_BACK);
    }
}
