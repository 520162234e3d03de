package io.syncguard.shedlock;

import io.syncguard.redis.RedisContractStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
@Tag("verification")
class RedisShedLockTests extends ShedLockContract {}
