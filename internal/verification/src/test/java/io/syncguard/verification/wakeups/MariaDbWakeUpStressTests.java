package io.syncguard.verification.wakeups;

import io.syncguard.verification.queue.MariaDbQueueServer;
import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbWakeUpStressTests extends WakeUpStressContract {

    MariaDbWakeUpStressTests() {
        super(new MariaDbQueueServer());
    }
}
