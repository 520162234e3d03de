package io.syncguard.fencing;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps a transaction from committing whose check has failed, also if its body caught the exception. A rollback to an
 * older savepoint undoes what came before the failure, and with it the failure.
 */
final class RefusedTransaction implements TransactionSynchronization {

    private final RuntimeException failure;
    private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean undone;

    private RefusedTransaction(RuntimeException failure) {
        this.failure = failure;
    }

    /** Throws the failure again before the commit of the running transaction. */
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
