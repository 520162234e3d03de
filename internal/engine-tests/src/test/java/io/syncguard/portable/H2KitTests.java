package io.syncguard.portable;

import java.util.UUID;
import org.junit.jupiter.api.extension.ExtendWith;

/** The portable store in H2 keeps the contract. */
@ExtendWith(H2KitTests.Store.class)
class H2KitTests extends PortableKit {

    static final class Store extends PortableContractStore {

        Store() {
            super(new H2Dialect(), "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", false);
        }
    }
}
