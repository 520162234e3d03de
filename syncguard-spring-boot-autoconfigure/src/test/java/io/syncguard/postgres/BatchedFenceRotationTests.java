package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.FenceRotationContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatchedFenceRotationTests extends FenceRotationContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS);

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
