package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    MariaDbQueueAcrossProcessesTests() {
        super(new MariaDbQueueServer());
    }
}
