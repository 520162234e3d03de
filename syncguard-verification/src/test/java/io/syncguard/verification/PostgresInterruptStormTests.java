package io.syncguard.verification;

/** Locks in PostgreSQL. */
class PostgresInterruptStormTests extends InterruptStormContract {

    PostgresInterruptStormTests() {
        super(new PostgresQueueServer());
    }
}
