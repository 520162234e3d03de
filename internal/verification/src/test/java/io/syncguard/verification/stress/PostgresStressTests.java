package io.syncguard.verification.stress;

/** Locks in PostgreSQL. */
class PostgresStressTests extends StressContract {

    PostgresStressTests() {
        super(PostgresStressServer::new);
    }
}
