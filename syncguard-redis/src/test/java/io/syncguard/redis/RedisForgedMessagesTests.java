package io.syncguard.redis;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisForgedMessagesTests extends RedisForgedMessagesContract {}
