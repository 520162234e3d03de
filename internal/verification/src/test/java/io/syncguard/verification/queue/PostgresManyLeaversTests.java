package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL. */
@Tag("verification")
class PostgresManyLeaversTests extends ManyLeaversContract {

    PostgresManyLeaversTests() {
        super(new PostgresQueueServer());
    }
}
