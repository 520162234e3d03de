package io.syncguard.verification.wakeups;

import io.syncguard.verification.queue.PostgresQueueServer;
import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL. */
@Tag("verification")
class PostgresWakeUpStressTests extends WakeUpStressContract {

    PostgresWakeUpStressTests() {
        super(new PostgresQueueServer());
    }
}
