package io.syncguard.redis;

import io.syncguard.integration.LockRegistryContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLockRegistryTests extends LockRegistryContract {}
