package io.syncguard.redis;

import io.syncguard.core.LockBackendContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLockBackendTests extends LockBackendContract {}
