package io.syncguard.test.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.core.GuardedLease;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.transaction.SpringTransactions;

/**
 * Spring's transactions, each of which can be guarded by locks in memory: right before a commit the library checks that
 * the locks are held, and there is no other process that could take them after that. So {@link CommitGuard#REQUIRED}
 * refuses no transaction of a test.
 */
final class TestTransactions implements TransactionBoundary {

    private final SpringTransactions transactions;

    /** @param defaultGuard for requests that name none */
    TestTransactions(CommitGuard defaultGuard) {
        this.transactions = new SpringTransactions("memory", null, defaultGuard);
    }

    @Override
    public int bind(GuardedLease lease, Runnable afterCompletion) {
        return transactions.bind(lease, afterCompletion);
    }

    @Override
    public CommitGuard defaultGuard() {
        return transactions.defaultGuard();
    }
}
