package io.syncguard.redis;

import io.syncguard.core.LockListContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLockListTests extends LockListContract {}
