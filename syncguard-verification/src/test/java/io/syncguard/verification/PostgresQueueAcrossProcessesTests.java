package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    PostgresQueueAcrossProcessesTests() {
        super(new PostgresQueueServer());
    }
}
