package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.PlaceContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresPlaceTests extends PlaceContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
