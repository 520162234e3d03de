package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresDeadWaiterTests extends DeadWaiterContract {

    PostgresDeadWaiterTests() {
        super(new PostgresQueueServer());
    }
}
