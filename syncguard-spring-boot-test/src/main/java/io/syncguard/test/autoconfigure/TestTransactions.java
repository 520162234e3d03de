package io.syncguard.test.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.LockRequest;
import io.syncguard.core.GuardedLease;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.transaction.SpringTransactions;

/**
 * Spring's transactions, which locks in memory can guard. Right before a commit, the library checks that the locks are
 * held, and no other process can take them after that. So {@link CommitGuard#REQUIRED} refuses no transaction of a
 * test.
 */
final class TestTransactions implements TransactionBoundary {

    private final SpringTransactions transactions;

    /** @param defaultGuard the guard of requests that name none */
    TestTransactions(CommitGuard defaultGuard) {
        this.transactions = new SpringTransactions("memory", null, defaultGuard);
    }

    @Override
    public int bind(GuardedLease lease, Runnable afterCompletion) {
        return transactions.bind(lease, afterCompletion);
    }

    @Override
    public void requireGuard(LockRequest request) {
        SpringTransactions.endCompleted();
    }

    @Override
    public CommitGuard defaultGuard() {
        return transactions.defaultGuard();
    }
}
