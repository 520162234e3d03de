package io.syncguard.integration;

import io.syncguard.redis.RedisContractStore;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLockRegistryTests extends LockRegistryContract {}
