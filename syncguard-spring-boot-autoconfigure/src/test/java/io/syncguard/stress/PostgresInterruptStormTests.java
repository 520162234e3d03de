package io.syncguard.stress;

/** Locks in PostgreSQL. */
class PostgresInterruptStormTests extends InterruptStormContract {

    PostgresInterruptStormTests() {
        super(new PostgresQueueServer());
    }
}
