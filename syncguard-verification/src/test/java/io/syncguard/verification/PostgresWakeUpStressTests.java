package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresWakeUpStressTests extends WakeUpStressContract {

    PostgresWakeUpStressTests() {
        super(new PostgresQueueServer());
    }
}
