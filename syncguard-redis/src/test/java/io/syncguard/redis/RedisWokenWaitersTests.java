package io.syncguard.redis;

import io.syncguard.core.WokenWaitersContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisWokenWaitersTests extends WokenWaitersContract {}
