package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresDeadWaiterTests extends DeadWaiterContract {

    PostgresDeadWaiterTests() {
        super(new PostgresQueueServer());
    }
}
