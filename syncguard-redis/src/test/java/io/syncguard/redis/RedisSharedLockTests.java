package io.syncguard.redis;

import io.syncguard.core.SharedLockContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisSharedLockTests extends SharedLockContract {}
