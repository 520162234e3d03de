package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresManyLeaversTests extends ManyLeaversContract {

    PostgresManyLeaversTests() {
        super(new PostgresQueueServer());
    }
}
