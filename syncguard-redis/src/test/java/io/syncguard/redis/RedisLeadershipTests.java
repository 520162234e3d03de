package io.syncguard.redis;

import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLeadershipTests extends LeadershipContract {}
