package io.syncguard.postgres;

import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerLeadershipTests extends LeadershipContract {}
