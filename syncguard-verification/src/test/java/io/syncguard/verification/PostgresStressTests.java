package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresStressTests extends StressContract {

    PostgresStressTests() {
        super(PostgresStressServer::new);
    }
}
