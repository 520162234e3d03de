package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.QueueContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerQueueTests extends QueueContract {

    @RegisterExtension
    private static final PgBouncerContractStore store = new PgBouncerContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
