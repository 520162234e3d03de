package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.core.ContractStoreProvider;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.LockSearchContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keys in four shards, on three masters. The test classes share the cluster until the last test of this JVM. The whole
 * contract follows, on this store.
 */
class RedisClusterStore implements ContractStoreProvider, BeforeAllCallback, AfterEachCallback {

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

    @Override
    public void afterEach(ExtensionContext context) {
        store.afterEach(context);
    }
}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterSharedLockTests extends SharedLockContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterPermitTests extends PermitContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterQueueTests extends QueueContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterQueueEntryTests extends QueueEntryContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterLeadershipTests extends LeadershipContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterForcedReleaseTests extends ForcedReleaseContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterLockListTests extends LockListContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterLockSearchTests extends LockSearchContract {}

@ExtendWith(RedisClusterStore.class)
@Tag("verification")
class RedisClusterForgedMessagesTests extends RedisForgedMessagesContract {}

/** The same, and each acquire request and each release of callers goes in a batch of its shard. */
final class RedisClusterBatchedStore extends RedisClusterStore {

    RedisClusterBatchedStore() {
        super(RedisBatching.ALWAYS);
    }
}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedLockBackendTests extends LockBackendContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedSharedLockTests extends SharedLockContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedPermitTests extends PermitContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedQueueTests extends QueueContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedQueueEntryTests extends QueueEntryContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedFenceRotationTests extends FenceRotationContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedLeadershipTests extends LeadershipContract {}

@ExtendWith(RedisClusterBatchedStore.class)
@Tag("verification")
class RedisClusterBatchedForgedMessagesTests extends RedisForgedMessagesContract {}
