package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbDeadWaiterTests extends DeadWaiterContract {

    MariaDbDeadWaiterTests() {
        super(new MariaDbQueueServer());
    }
}
