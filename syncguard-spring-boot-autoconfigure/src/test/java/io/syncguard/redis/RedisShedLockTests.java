package io.syncguard.redis;

import io.syncguard.shedlock.ShedLockContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
@Tag("verification")
class RedisShedLockTests extends ShedLockContract {}
