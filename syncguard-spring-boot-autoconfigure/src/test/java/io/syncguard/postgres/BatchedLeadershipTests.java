package io.syncguard.postgres;

import io.syncguard.core.ContractStore;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatchedLeadershipTests extends LeadershipContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS);

    @Override
    protected ContractStore emptyStore() {
        return store.emptied();
    }
}
