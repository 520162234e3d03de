package io.syncguard.postgres;

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
final class PostgresBatchedStore extends PostgresContractStore {

    PostgresBatchedStore() {
        super(PostgresBatching.ALWAYS);
    }
}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedLockBackendTests extends LockBackendContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedSharedLockTests extends SharedLockContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedQueueTests extends QueueContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedQueueEntryTests extends QueueEntryContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedDirectHandOverTests extends DirectHandOverContract {}

@Tag("verification")
@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedPermitTests extends PermitContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedFenceRotationTests extends FenceRotationContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedWokenWaitersTests extends WokenWaitersContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedLeadershipTests extends LeadershipContract {}

@ExtendWith(PostgresBatchedStore.class)
class PostgresBatchedForgedMessagesTests extends PostgresForgedMessagesContract {}
