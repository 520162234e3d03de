package io.syncguard.verification.stress;

import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL. */
@Tag("verification")
class PostgresStressTests extends StressContract {

    PostgresStressTests() {
        super(PostgresStressServer::new);
    }
}
