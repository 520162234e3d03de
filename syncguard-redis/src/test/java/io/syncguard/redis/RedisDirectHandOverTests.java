package io.syncguard.redis;

import io.syncguard.core.DirectHandOverContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisDirectHandOverTests extends DirectHandOverContract {}
