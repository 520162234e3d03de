package io.syncguard.verification.queue;

/** Locks in PostgreSQL. */
class PostgresManyLeaversTests extends ManyLeaversContract {

    PostgresManyLeaversTests() {
        super(new PostgresQueueServer());
    }
}
