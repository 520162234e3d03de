package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.LockLostException;
import io.syncguard.core.GuardedBodies;
import io.syncguard.core.GuardedLease;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Guards the commits of one transaction manager. Runs right before the commit, after all synchronizations and all other
 * listeners. A synchronization could not do this, because Spring does not call {@code beforeCommit} of a
 * synchronization that another {@code beforeCommit} registers, and only logs what {@code beforeCompletion} throws.
 */
final class TransactionListener implements TransactionExecutionListener {

    private final GuardedManager manager;

    TransactionListener(GuardedManager manager) {
        this.manager = manager;
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
            GuardedTransaction.begin(transaction, manager);
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

    /**
     * Throws the loss of a lease under which the transaction has committed without a guard: nobody else tells the
     * caller.
     * All synchronizations have ended.
     */
    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
        LockLostException loss = OpenTransactions.takeLoss(transaction);
        if (loss != null && failure == null) {
            throw loss;
        }
    }

    private void requireGuard(GuardedLease lease, SpringTransactions transactions) {
        String reason = manager.whyNotGuarded(transactions.store());
        if (reason != null) {
            throw transactions.store().refused(lease.key(), reason);
        }
    }
}
