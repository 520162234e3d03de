package io.syncguard.portable;

import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.extension.ExtendWith;

/** The portable store in MariaDB keeps the contract. */
@ExtendWith(MariaDbKitTests.Store.class)
class MariaDbKitTests extends PortableKit {

    static final class Store extends PortableContractStore {

        Store() {
            super(new MySqlDialect(), MariaDbServer.newDatabaseUrl(), false);
        }
    }
}
