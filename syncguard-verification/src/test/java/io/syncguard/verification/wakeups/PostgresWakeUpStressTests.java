package io.syncguard.verification.wakeups;

import io.syncguard.verification.queue.PostgresQueueServer;

/** Locks in PostgreSQL. */
class PostgresWakeUpStressTests extends WakeUpStressContract {

    PostgresWakeUpStressTests() {
        super(new PostgresQueueServer());
    }
}
