package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.QueueContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatchedQueueTests extends QueueContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS);

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
