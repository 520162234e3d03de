package io.syncguard.redis;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.SeveralKeysContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.spi.FenceSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Fences come from counters. The contracts about fences follow, on this store. */
class RedisCounterStore extends RedisContractStore {

    RedisCounterStore() {
        this(RedisBatching.AUTO);
    }

    RedisCounterStore(RedisBatching batching) {
        super(batching, FenceSource.COUNTER);
    }
}

/** Fences come from counters, and each request of callers goes in a batch. */
final class RedisBatchedCounterStore extends RedisCounterStore {

    RedisBatchedCounterStore() {
        super(RedisBatching.ALWAYS);
    }
}

@ExtendWith(RedisCounterStore.class)
class RedisCounterFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisCounterStore.class)
class RedisCounterDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisCounterStore.class)
@Tag("verification")
class RedisCounterPermitTests extends PermitContract {}

@ExtendWith(RedisBatchedCounterStore.class)
@Tag("verification")
class RedisBatchedCounterLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisBatchedCounterStore.class)
@Tag("verification")
class RedisBatchedCounterSharedLockTests extends SharedLockContract {}

@ExtendWith(RedisBatchedCounterStore.class)
@Tag("verification")
class RedisBatchedCounterPermitTests extends PermitContract {}

@ExtendWith(RedisCounterStore.class)
@Tag("verification")
class RedisCounterSeveralKeysTests extends SeveralKeysContract {}
