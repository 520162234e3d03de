package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL. */
@Tag("verification")
class PostgresDeadWaiterTests extends DeadWaiterContract {

    PostgresDeadWaiterTests() {
        super(new PostgresQueueServer());
    }
}
