package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL. */
@Tag("verification")
class PostgresManyProcessesTests extends ManyProcessesContract {

    PostgresManyProcessesTests() {
        super(new PostgresQueueServer());
    }
}
