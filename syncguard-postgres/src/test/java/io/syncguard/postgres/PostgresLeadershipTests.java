package io.syncguard.postgres;

import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLeadershipTests extends LeadershipContract {}
