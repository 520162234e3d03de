package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresLeadershipTests extends LeadershipContract {

    private static PostgresContractStore store;

    @BeforeAll
    static void connect() {
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
