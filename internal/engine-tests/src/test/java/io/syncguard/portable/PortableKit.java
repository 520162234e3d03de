package io.syncguard.portable;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.LockSearchContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SeveralKeysContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.leader.LeadershipContract;
import org.junit.jupiter.api.Nested;

/** The contract of a store. Each subclass names the database. */
abstract class PortableKit {

    @Nested
    class LockBackend extends LockBackendContract {}

    @Nested
    class Queue extends QueueContract {}

    @Nested
    class SharedLock extends SharedLockContract {}

    @Nested
    class DirectHandOver extends DirectHandOverContract {}

    @Nested
    class SeveralKeys extends SeveralKeysContract {}

    @Nested
    class LockList extends LockListContract {}

    @Nested
    class LockSearch extends LockSearchContract {}

    @Nested
    class FenceRotation extends FenceRotationContract {}

    @Nested
    class QueueEntry extends QueueEntryContract {}

    @Nested
    class ForcedRelease extends ForcedReleaseContract {}

    @Nested
    class Permit extends PermitContract {}

    @Nested
    class WokenWaiters extends WokenWaitersContract {}

    @Nested
    class Leadership extends LeadershipContract {}
}
