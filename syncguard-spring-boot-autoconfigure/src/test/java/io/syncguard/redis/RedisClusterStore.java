package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.core.ContractStoreProvider;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keys in four shards, on three masters. The test classes share the cluster until the last test of this JVM. The whole
 * contract follows, on this store.
 */
class RedisClusterStore implements ContractStoreProvider, BeforeAllCallback {

    private final RedisBatching batching;
    private RedisContractStore store;

    RedisClusterStore() {
        this(RedisBatching.AUTO);
    }

    RedisClusterStore(RedisBatching batching) {
        this.batching = batching;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        store = context.getRoot()
                .getStore(ExtensionContext.Namespace.create(RedisClusterStore.class))
                .computeIfAbsent(
                        batching,
                        any -> new RedisContractStore(new OwnRedisCluster(), 4, batching),
                        RedisContractStore.class);
    }

    @Override
    public ContractStore emptied() {
        return store.emptied();
    }
}

@ExtendWith(RedisClusterStore.class)
class RedisClusterLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterSharedLockTests extends SharedLockContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterQueueTests extends QueueContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterQueueEntryTests extends QueueEntryContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterLeadershipTests extends LeadershipContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterForcedReleaseTests extends ForcedReleaseContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterLockListTests extends LockListContract {}

@ExtendWith(RedisClusterStore.class)
class RedisClusterForgedMessagesTests extends RedisForgedMessagesContract {}

/** Each acquire request and each release of callers goes in a batch of its shard. The same again. */
final class RedisClusterBatchedStore extends RedisClusterStore {

    RedisClusterBatchedStore() {
        super(RedisBatching.ALWAYS);
    }
}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedSharedLockTests extends SharedLockContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedQueueTests extends QueueContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedQueueEntryTests extends QueueEntryContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedLeadershipTests extends LeadershipContract {}

@ExtendWith(RedisClusterBatchedStore.class)
class RedisClusterBatchedForgedMessagesTests extends RedisForgedMessagesContract {}
