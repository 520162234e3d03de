package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    PostgresQueueAcrossProcessesTests() {
        super(new PostgresQueueServer());
    }
}
