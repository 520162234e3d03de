package io.syncguard.portable;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract of a store, kept by requests that travel in lists, as those of many callers do. */
@Tag("verification")
class MariaDbListKitTests {

    static final class Store extends PortableContractStore {

        Store() {
            super(new MySqlDialect(), MariaDbServer.newDatabaseUrl(), true);
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
    class Permit extends PermitContract {}
}
