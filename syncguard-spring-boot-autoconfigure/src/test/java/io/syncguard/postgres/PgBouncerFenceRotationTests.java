package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.FenceRotationContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerFenceRotationTests extends FenceRotationContract {

    @RegisterExtension
    private static final PgBouncerContractStore store = new PgBouncerContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
