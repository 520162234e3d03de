package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.SharedLockContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerSharedLockTests extends SharedLockContract {

    @RegisterExtension
    private static final PgBouncerContractStore store = new PgBouncerContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
