package io.syncguard.verification.queue;

/** Locks in PostgreSQL. */
class PostgresManyProcessesTests extends ManyProcessesContract {

    PostgresManyProcessesTests() {
        super(new PostgresQueueServer());
    }
}
