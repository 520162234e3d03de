package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class PgBouncerLeadershipTests extends LeadershipContract {

    @RegisterExtension
    private static final PgBouncerContractStore store = new PgBouncerContractStore();

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
