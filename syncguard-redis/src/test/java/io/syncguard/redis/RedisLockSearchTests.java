package io.syncguard.redis;

import io.syncguard.core.LockSearchContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisLockSearchTests extends LockSearchContract {}
