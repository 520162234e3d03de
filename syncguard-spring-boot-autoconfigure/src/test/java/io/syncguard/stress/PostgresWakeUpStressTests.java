package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresWakeUpStressTests extends WakeUpStressContract {

    PostgresWakeUpStressTests() {
        super(new PostgresQueueServer());
    }
}
