package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.core.PlaceContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresPlaceTests extends PlaceContract {

    private static PostgresContractStore store;

    @BeforeAll
    static void makeDatabase() {
        store = new PostgresContractStore();
    }

    @AfterAll
    static void closeConnections() {
        store.close();
    }

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
