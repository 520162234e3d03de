package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.DirectHandOverContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerDirectHandOverTests extends DirectHandOverContract {

    @RegisterExtension
    private static final PgBouncerContractStore store = new PgBouncerContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
