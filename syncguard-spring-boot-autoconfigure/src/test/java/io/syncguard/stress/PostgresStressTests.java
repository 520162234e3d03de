package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresStressTests extends StressContract {

    PostgresStressTests() {
        super(PostgresStressServer::new);
    }
}
