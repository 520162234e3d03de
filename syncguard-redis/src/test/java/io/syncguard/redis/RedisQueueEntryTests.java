package io.syncguard.redis;

import io.syncguard.core.QueueEntryContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisQueueEntryTests extends QueueEntryContract {}
