package io.syncguard.redis;

import io.syncguard.shedlock.ShedLockContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisShedLockTests extends ShedLockContract {}
