package io.syncguard.redis;

import io.syncguard.core.FenceRotationContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisFenceRotationTests extends FenceRotationContract {}
