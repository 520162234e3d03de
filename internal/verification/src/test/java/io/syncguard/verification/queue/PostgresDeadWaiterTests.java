package io.syncguard.verification.queue;

/** Locks in PostgreSQL. */
class PostgresDeadWaiterTests extends DeadWaiterContract {

    PostgresDeadWaiterTests() {
        super(new PostgresQueueServer());
    }
}
