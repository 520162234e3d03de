package io.syncguard.portable;

import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.extension.ExtendWith;

/** The portable store in MySQL keeps the contract. */
@ExtendWith(MySqlKitTests.Store.class)
class MySqlKitTests extends PortableKit {

    static final class Store extends PortableContractStore {

        Store() {
            super(new MySqlDialect(), MariaDbServer.newMySqlDatabaseUrl(), false);
        }
    }
}
