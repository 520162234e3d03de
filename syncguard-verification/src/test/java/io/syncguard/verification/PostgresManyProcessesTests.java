package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresManyProcessesTests extends ManyProcessesContract {

    PostgresManyProcessesTests() {
        super(new PostgresQueueServer());
    }
}
