package io.syncguard.portable;

import io.syncguard.testing.PostgresServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The portable store in PostgreSQL keeps the contract. */
@Tag("verification")
@ExtendWith(PostgresKitTests.Store.class)
class PostgresKitTests extends PortableKit {

    static final class Store extends PortableContractStore {

        Store() {
            super(new PostgresDialect(), PostgresServer.newDatabaseUrl(), false);
        }
    }
}
