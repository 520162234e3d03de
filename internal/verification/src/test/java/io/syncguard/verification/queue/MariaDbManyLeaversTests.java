package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbManyLeaversTests extends ManyLeaversContract {

    MariaDbManyLeaversTests() {
        super(new MariaDbQueueServer());
    }
}
