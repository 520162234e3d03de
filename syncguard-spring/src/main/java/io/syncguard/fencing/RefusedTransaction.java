package io.syncguard.fencing;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Prevents the commit of a transaction whose check has failed, even if its body caught the exception. After a rollback
 * to a savepoint that is older than the failure, the transaction may commit again.
 */
final class RefusedTransaction implements TransactionSynchronization {

    private final RuntimeException failure;
    private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean undone;

    private RefusedTransaction(RuntimeException failure) {
        this.failure = failure;
    }

    /** Has the failure thrown again before the commit of the running transaction. */
    static void register(RuntimeException failure) {
        TransactionSynchronizationManager.registerSynchronization(new RefusedTransaction(failure));
    }

    @Override
    public void savepoint(Object savepoint) {
        laterSavepoints.add(savepoint);
    }

    @Override
    public void savepointRollback(Object savepoint) {
        undone = undone || !laterSavepoints.contains(savepoint);
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (!undone) {
            throw failure;
        }
    }
}
