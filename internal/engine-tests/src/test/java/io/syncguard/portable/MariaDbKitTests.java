package io.syncguard.portable;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SeveralKeysContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.leader.LeadershipContract;
import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract of a store, kept by the portable one in MariaDB. */
class MariaDbKitTests {

    static final class Store extends PortableContractStore {

        Store() {
            super(new MySqlDialect(), MariaDbServer.newDatabaseUrl(), false);
        }
    }

    @Nested
    @ExtendWith(Store.class)
    class LockBackend extends LockBackendContract {}

    @Nested
    @ExtendWith(Store.class)
    class Queue extends QueueContract {}

    @Nested
    @ExtendWith(Store.class)
    class SharedLock extends SharedLockContract {}

    @Nested
    @ExtendWith(Store.class)
    class DirectHandOver extends DirectHandOverContract {}

    @Nested
    @ExtendWith(Store.class)
    class SeveralKeys extends SeveralKeysContract {}

    @Nested
    @ExtendWith(Store.class)
    class LockList extends LockListContract {}

    @Nested
    @ExtendWith(Store.class)
    class FenceRotation extends FenceRotationContract {}

    @Nested
    @ExtendWith(Store.class)
    class QueueEntry extends QueueEntryContract {}

    @Nested
    @ExtendWith(Store.class)
    class ForcedRelease extends ForcedReleaseContract {}

    @Nested
    @ExtendWith(Store.class)
    class Permit extends PermitContract {}

    @Nested
    @ExtendWith(Store.class)
    class WokenWaiters extends WokenWaitersContract {}

    @Nested
    @ExtendWith(Store.class)
    class Leadership extends LeadershipContract {}
}
