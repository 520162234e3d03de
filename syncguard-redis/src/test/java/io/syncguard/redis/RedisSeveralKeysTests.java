package io.syncguard.redis;

import io.syncguard.core.SeveralKeysContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisSeveralKeysTests extends SeveralKeysContract {}
