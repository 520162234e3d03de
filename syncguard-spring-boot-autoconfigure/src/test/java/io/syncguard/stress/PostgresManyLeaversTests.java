package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresManyLeaversTests extends ManyLeaversContract {

    PostgresManyLeaversTests() {
        super(new PostgresQueueServer());
    }
}
