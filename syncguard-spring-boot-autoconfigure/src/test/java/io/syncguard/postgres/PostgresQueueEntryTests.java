package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.QueueEntryContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresQueueEntryTests extends QueueEntryContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
