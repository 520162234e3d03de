package io.syncguard.redis;

import io.syncguard.core.QueueContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisQueueTests extends QueueContract {}
