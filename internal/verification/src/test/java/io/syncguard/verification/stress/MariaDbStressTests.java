package io.syncguard.verification.stress;

import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbStressTests extends StressContract {

    MariaDbStressTests() {
        super(MariaDbStressServer::new);
    }
}
