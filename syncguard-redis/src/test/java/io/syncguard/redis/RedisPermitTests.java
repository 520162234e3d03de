package io.syncguard.redis;

import io.syncguard.core.PermitContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisContractStore.class)
class RedisPermitTests extends PermitContract {}
