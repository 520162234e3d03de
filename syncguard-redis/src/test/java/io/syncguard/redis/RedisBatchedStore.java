package io.syncguard.redis;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each acquire request and each release of callers goes in a batch. The whole contract follows, on this store. */
final class RedisBatchedStore extends RedisContractStore {

    RedisBatchedStore() {
        super(RedisBatching.ALWAYS);
    }
}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedSharedLockTests extends SharedLockContract {}

@Tag("verification")
@ExtendWith(RedisBatchedStore.class)
class RedisBatchedPermitTests extends PermitContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedQueueTests extends QueueContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedQueueEntryTests extends QueueEntryContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedLeadershipTests extends LeadershipContract {}

@ExtendWith(RedisBatchedStore.class)
class RedisBatchedForgedMessagesTests extends RedisForgedMessagesContract {}
