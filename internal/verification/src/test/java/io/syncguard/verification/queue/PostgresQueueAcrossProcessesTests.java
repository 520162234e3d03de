package io.syncguard.verification.queue;

/** Locks in PostgreSQL. */
class PostgresQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    PostgresQueueAcrossProcessesTests() {
        super(new PostgresQueueServer());
    }
}
