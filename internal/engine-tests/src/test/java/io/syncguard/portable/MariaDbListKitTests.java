package io.syncguard.portable;

import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** It keeps the contract with requests that travel in lists, as those of many callers do. */
@Tag("verification")
@ExtendWith(MariaDbListKitTests.Store.class)
class MariaDbListKitTests extends PortableKit {

    static final class Store extends PortableContractStore {

        Store() {
            super(new MySqlDialect(), MariaDbServer.newDatabaseUrl(), true);
        }
    }
}
